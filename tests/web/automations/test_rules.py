"""The builder of a branch's rule: its kinds, its values, and how many people match now."""

import json

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.automations.editing import Desk, desk
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree

SAVED = "/steps/fork"


@pytest.fixture
def work(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Desk:
    """Return a draft with a branch; the workspace has people, properties and a topic."""
    place = acme.workspace_id
    with uow.begin() as session:
        people.custom_property(session, place, "plan")
        people.custom_property(session, place, "seats", "number")
        people.custom_property(session, place, "vip", "boolean")
        people.topic(session, place, "News")
        for plan in ("pro", "pro", "team"):
            people.contact(session, place, properties={"plan": plan, "vip": plan == "pro"})
    return desk(owner, uow, acme, clock, making.branch("fork"), making.delay("wait"))


def _about(**fields: str) -> dict[str, str]:
    return {f"contact_property-{name}": value for name, value in fields.items()}


def test_a_number_is_stored_as_one_where_the_property_is_a_number(work: Desk) -> None:
    for field, stored in (("seats", 12), ("plan", "12")):
        work.edit("?step=fork", SAVED, **_about(field=field, operator="gte", value="12"))
        assert work.step("fork")["config"]["condition"] == {
            "kind": "contact_property",
            "field": field,
            "operator": "gte",
            "value": stored,
        }


def test_an_operator_that_takes_no_value_stores_none(work: Desk) -> None:
    work.edit("?step=fork", SAVED, **_about(field="vip", operator="is_true", value="left over"))
    assert work.step("fork")["config"]["condition"] == {
        "kind": "contact_property",
        "field": "vip",
        "operator": "is_true",
    }


def test_a_rule_can_be_about_a_topic_or_about_mails(work: Desk) -> None:
    page = tree(work.reader.get(f"{work.page}?step=fork"))
    [topic] = [o.get("value") for o in pick(page, "#topic_membership-topic_id option")][1:]
    work.edit(
        "?step=fork", SAVED, condition="topic_membership", **{"topic_membership-topic_id": topic}
    )
    assert work.step("fork")["config"]["condition"]["topic_id"] == topic
    work.edit("?step=fork", SAVED, condition="email_activity")
    assert work.step("fork")["config"]["condition"] == {
        "kind": "email_activity",
        "field": "opened",
        "operator": "is_true",
    }


def test_a_rule_without_a_property_is_no_rule_yet(work: Desk) -> None:
    work.edit("?step=fork", SAVED, **_about(field="", operator="equals", value="x"))
    assert work.step("fork")["config"]["condition"] is None


def test_a_value_that_is_too_long_is_refused_at_its_field_and_kept(work: Desk) -> None:
    long = "x" * 10_001
    answer = work.edit("?step=fork", SAVED, **_about(field="plan", operator="equals", value=long))
    assert answer.status_code == 422
    field = one(tree(answer), "#contact_property-value")
    assert (field.get("value"), field.get("aria-invalid")) == (long, "true")


def test_every_operator_says_which_types_it_suits(work: Desk) -> None:
    page = tree(work.reader.get(f"{work.page}?step=fork"))
    types = json.loads(str(one(page, "#contact_property-field").get("data-types")))
    suits = json.loads(str(one(page, "#contact_property-operator").get("data-operators")))
    assert types["seats"] == "number"
    assert types["first_name"] == "text"
    offered = [o.get("value") for o in pick(page, "#contact_property-operator option")]
    assert set(suits) == set(offered)
    assert "contains" not in [name for name in offered if "number" in suits[name]]
    assert all(suits.values())


@pytest.mark.parametrize(
    ("operator", "value", "said"),
    [
        ("equals", "pro", "2 of 3 people match now."),
        ("equals", "team", "1 of 3 people matches now."),
        ("not_equals", "pro", "1 of 3 people matches now."),
    ],
)
def test_the_builder_says_how_many_people_match_now(
    work: Desk, operator: str, value: str, said: str
) -> None:
    query = (
        "?condition=contact_property&contact_property-field=plan"
        f"&contact_property-operator={operator}&contact_property-value={value}"
    )
    part = tree(work.reader.get(f"{work.page}/matches{query}", HTMX))
    assert said in words(part)
    values = [option.get("value") for option in pick(part, "datalist option")]
    assert values == ["pro", "team"]
    page = tree(work.reader.get(f"{work.page}/matches{query}"))
    assert texts(page, "h1") == ["How many people match now"]
    assert said in words(page)


def test_asked_by_a_button_the_count_keeps_what_was_typed_and_saves_nothing(work: Desk) -> None:
    typed = _about(field="plan", operator="equals", value="pro")
    answer = work.edit("?step=fork", SAVED, count="yes", yes="end", **typed)
    assert answer.status_code == 200
    page = tree(answer)
    assert "2 of 3 people match now." in words(one(page, "#matches"))
    assert one(page, "#contact_property-value").get("value") == "pro"
    assert one(page, "#way-yes option[selected]").get("value") == "end"
    assert work.version() == 1


def test_no_question_carries_the_token_of_the_form_in_its_address(work: Desk) -> None:
    for step in ("fork", "wait"):
        page = tree(work.reader.get(f"{work.page}?step={step}"))
        [asks] = pick(page, "#rail [hx-include]")
        assert asks.get("hx-params") == "not csrf_token"
    assert not pick(page, "[formmethod=get]")


def test_without_a_rule_nothing_is_counted(work: Desk) -> None:
    for query in ("", "?condition=none", "?condition=topic_membership"):
        answer = work.reader.get(f"{work.page}/matches{query}", HTMX)
        assert answer.status_code == 200
        assert "Choose a rule" in answer.text


def test_a_wait_says_when_it_would_be_over(work: Desk) -> None:
    address = f"{work.page}/steps/wait/sentence"
    said = work.reader.get(f"{address}?duration=2&unit=days", HTMX).text
    assert "goes on at the earliest on" in said
    assert "<time datetime=" in said
    assert "No length yet." in work.reader.get(f"{address}?duration=x&unit=days", HTMX).text
