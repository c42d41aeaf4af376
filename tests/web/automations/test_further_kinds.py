"""The further kinds of steps in the editor: their forms open, save, and keep what is wrong."""

from typing import Any

import pytest

from engine.accounts.service.secrets import ADDRESS
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories.secrets import secret
from tests.web.automations.editing import Desk, desk
from tests.web.picking import one, texts, words
from tests.web.support import Reader, Town, tree

SPLIT = {"key": "split", "type": "random_split", "config": {"b": "last"}}
EVENT = {
    "key": "wait",
    "type": "wait_until",
    "config": {"event_name": "paid", "limit_duration": 3, "limit_unit": "days"},
}


@pytest.fixture
def work(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Desk:
    return desk(owner, uow, acme, clock, SPLIT, EVENT, making.delay("last"))


def test_a_split_gets_a_third_way_and_keeps_where_the_second_leads(work: Desk) -> None:
    answer = work.edit("?step=split", "/steps/split", shares="50, 30, 20")
    assert answer.status_code == 303
    config = work.step("split")["config"]
    assert config["shares"] == {"a": 50, "b": 30, "c": 20}
    assert (config["b"], config["c"]) == ("last", None)
    page = tree(work.reader.get(f"{work.page}?step=split"))
    assert words(one(page, "#rail-title")) == "Random split 50 / 30 / 20"


@pytest.mark.parametrize("typed", ["half", "100", "0, 100", ""])
def test_shares_that_mean_nothing_are_refused_at_their_field_and_kept(
    work: Desk, typed: str
) -> None:
    answer = work.edit("?step=split", "/steps/split", shares=typed)
    field = one(tree(answer), "#shares")
    assert (answer.status_code, field.get("value")) == (422, typed)
    assert field.get("aria-invalid") == "true"
    assert work.step("split")["config"] == SPLIT["config"]


def test_a_wait_for_an_event_becomes_one_for_hours(work: Desk) -> None:
    answer = work.edit(
        "?step=wait", "/steps/wait", mode="window", weekdays=["1", "2"], opens="09:00"
    )
    assert answer.status_code == 303
    assert {k: v for k, v in work.step("wait")["config"].items() if v is not None} == {
        "mode": "window",
        "weekdays": [1, 2],
        "opens": "09:00",
    }
    page = tree(work.reader.get(f"{work.page}?step=wait"))
    assert words(one(page, "#rail-title")) == "Wait until Mon, Tue, 09:00–24:00"
    days = page.xpath("//input[@name='weekdays'][@checked]/@value")
    assert days == ["1", "2"]


def test_a_wait_is_refused_at_the_field_that_is_wrong(work: Desk) -> None:
    answer = work.edit("?step=wait", "/steps/wait", limit_duration="soon")
    assert answer.status_code == 422
    assert one(tree(answer), "#limit_duration").get("value") == "soon"
    assert texts(tree(answer), "#mistakes a") != []


def test_a_webhook_is_saved_with_the_secret_that_signs_it(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        hook = secret(session, acme.workspace_id).public_id
        chat = secret(session, acme.workspace_id, "Sales", ADDRESS, "https://chat.example/abcdef")
    kinds = ("webhook", "slack")
    steps: list[dict[str, Any]] = [{"key": k, "type": k, "config": {}} for k in kinds]
    work = desk(owner, uow, acme, clock, *steps)
    page = tree(work.reader.get(f"{work.page}?step=webhook"))
    assert texts(page, "#secret_id option") == ["Not signed", "Hook"]
    answer = work.edit(
        "?step=webhook",
        "/steps/webhook",
        url="https://shop.example/in",
        secret_id=hook,
        body='{"a": "{{ contact.id }}"}',
        headers="X-Team: sales\r\n\r\nX-Two:2",
    )
    assert answer.status_code == 303
    assert work.step("webhook")["config"] == {
        "url": "https://shop.example/in",
        "body": '{"a": "{{ contact.id }}"}',
        "headers": {"X-Team": "sales", "X-Two": "2"},
        "secret_id": hook,
    }
    page = tree(work.reader.get(f"{work.page}?step=slack"))
    assert texts(page, "#secret_id option") == ["Choose a channel", "Sales"]
    work.edit("?step=slack", "/steps/slack", secret_id=chat.public_id, text="{{ contact.id }}")
    assert "chat.example" not in work.reader.get(work.page).text


@pytest.mark.parametrize(
    ("typed", "place"),
    [({"url": "shop"}, "url"), ({"body": "{"}, "body"), ({"headers": "Host: x"}, "headers")],
)
def test_a_webhook_is_refused_at_the_field_that_is_wrong(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock, typed: dict[str, str], place: str
) -> None:
    work = desk(owner, uow, acme, clock, {"key": "tell", "type": "webhook", "config": {}})
    answer = work.edit("?step=tell", "/steps/tell", **typed)
    assert answer.status_code == 422
    assert one(tree(answer), "#mistakes a").get("href") == f"#{place}"


def test_a_date_is_chosen_as_the_start(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        people.custom_property(session, acme.workspace_id, "born", "instant")
    work = desk(owner, uow, acme, clock, making.delay("wait"))
    typed = {"date_reached-property_key": "born", "date_reached-offset_days": "-3"}
    answer = work.edit("?step=_start", "/trigger", type="date_reached", **typed)
    assert answer.status_code == 303
    assert work.document()["trigger"]["type"] == "date_reached"
    config = work.document()["trigger"]["config"]
    assert (config["property_key"], config["offset_days"]) == ("born", -3)
    answer = work.edit("?step=_start", "/trigger", **{"date_reached-offset_days": "soon"})
    assert answer.status_code == 422
    assert one(tree(answer), "#date_reached-offset_days").get("value") == "soon"
