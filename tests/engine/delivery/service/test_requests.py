"""Asking for mail: what is withheld and why, in a bounded number of statements."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, update

from engine.audience import queries as audience_queries
from engine.audience.models import Suppression
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import SERVICE
from engine.delivery.service import Withheld, request_many
from tests.engine.delivery.service.desk import AT, Desk, why
from tests.factories import accounts, audience, delivery


@pytest.mark.parametrize(
    ("reason", "marketing", "service"),
    [
        ("bounced", "suppressed", "suppressed"),
        ("complained", "suppressed", "suppressed"),
        ("manual", "suppressed", "suppressed"),
        ("unengaged", "suppressed", None),
    ],
)
def test_a_suppressed_address_gets_what_its_reason_allows(
    desk: Desk, reason: str, marketing: str | None, service: str | None
) -> None:
    desk.suppress(reason)
    asked = [desk.mail(), desk.mail(purpose=None), desk.mail(purpose=SERVICE)]
    assert desk.ask(*asked) == [marketing, marketing, service]


@pytest.mark.parametrize("kind", ["automation", "campaign", "transactional", "agent", "test"])
def test_uns_06_one_suppression_list_stops_every_kind_of_mail(desk: Desk, kind: str) -> None:
    desk.suppress("bounced")
    asked = [desk.mail(kind=kind, purpose=SERVICE, contact_id=None, template_id=None)]
    assert desk.ask(*asked) == ["suppressed"]
    assert desk.count() == 0


def test_an_address_is_suppressed_in_any_spelling(desk: Desk) -> None:
    desk.suppress("manual", "kim@xn--mller-kva.example")
    spelled = [" KIM@müller.example ", "kim@xn--mller-kva.example", "kim@mueller.example"]
    assert desk.ask(*(desk.mail(to_email=each, purpose=SERVICE) for each in spelled)) == [
        "suppressed",
        "suppressed",
        None,
    ]


def test_another_workspace_has_a_list_of_its_own(desk: Desk, uow: UnitOfWork) -> None:
    desk.suppress("manual")
    with uow.begin() as session:
        other = accounts.workspace(session, "Other").id
    asked = [delivery.request(other, to_email="kim@people.example"), desk.mail()]
    assert desk.ask(*asked) == [None, "suppressed"]


def test_a_session_of_one_workspace_asks_like_a_walker_of_all(desk: Desk, uow: UnitOfWork) -> None:
    desk.suppress("manual", "blocked@people.example")
    desk.sent()
    asked = [desk.mail(), desk.mail(to_email="blocked@people.example", template_id=None)]
    with uow.begin(desk.workspace) as session:
        assert why(request_many(session, asked, AT), asked) == ["already_received", "suppressed"]
    with uow.begin() as session:
        other = accounts.workspace(session, "Other").id
    with uow.begin(other) as session:
        foreign = audience_queries.suppressed(session, {(desk.workspace, "blocked@people.example")})
    assert foreign == {}


def test_an_opt_out_stops_marketing_and_leaves_service_alone(desk: Desk) -> None:
    desk.change(unsubscribed_at=AT)
    assert desk.ask(desk.mail(), desk.mail(purpose=SERVICE)) == ["unsubscribed", None]


def test_a_key_that_has_a_send_answers_it_whatever_the_rules(desk: Desk) -> None:
    desk.allow(mails_per_day=1)
    first = desk.mail()
    with desk.uow.begin() as session:
        [queued] = request_many(session, [first], AT).values()
    desk.suppress("manual")
    desk.change(unsubscribed_at=AT)
    with desk.uow.begin() as session:
        again = request_many(session, [first, desk.mail(dedupe_key="new")], AT)
    assert again == {first.dedupe_key: queued, "new": Withheld("suppressed")}
    # And it takes no second place under the limit.
    desk.change(unsubscribed_at=None)
    with desk.uow.begin() as session:
        session.execute(update(Suppression).values(email="nobody@people.example"))
    tomorrow = AT + timedelta(days=2)
    assert desk.ask(first, desk.mail(), at=tomorrow) == [None, None]


def test_the_same_key_twice_in_a_batch_is_one_mail(desk: Desk) -> None:
    twice = desk.mail(dedupe_key="same")
    assert desk.ask(twice, twice) == [None, None]
    assert desk.count() == 1


@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize(
    ("given", "limits", "statements"),
    [
        ({"purpose": SERVICE}, {}, 3),
        ({"allow_repeat": True}, {}, 4),
        ({}, {}, 5),
        ({}, {"mails_per_day": 50, "quiet_from": "01:00", "quiet_until": "02:00"}, 5),
    ],
)
def test_the_rules_cost_a_fixed_number_of_statements(
    desk: Desk, size: int, given: Mapping[str, Any], limits: Mapping[str, Any], statements: int
) -> None:
    desk.allow(**limits)
    with desk.uow.begin() as session:
        people = [audience.contact(session, desk.workspace).row_id for _ in range(size)]
    asked = [desk.mail(contact_id=person, **given) for person in people]
    seen: list[str] = []
    with desk.uow.begin() as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *args: seen.append(str(args[2])))
        answers = request_many(session, asked, AT)
    assert why(answers, asked) == [None] * size
    assert len(seen) == statements, "\n".join(seen)
