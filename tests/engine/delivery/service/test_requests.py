"""Asking for mail: what is withheld and why, exactly, in one batch and under races."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import event, func, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.audience.models import Contact, Suppression
from engine.audience.queries import ContactRow
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import FAILED, MARKETING, SENT, SERVICE, EmailSend
from engine.delivery.queries import TemplateRow
from engine.delivery.service import Queued, SendRequest, Withheld, request_many
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN
from tests.factories import accounts, audience, delivery

AT = accounts.AT


class Desk:
    """A workspace with one person and one template, and the question that is asked."""

    def __init__(self, uow: UnitOfWork) -> None:
        self.uow = uow
        with uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            self.kim: ContactRow = audience.contact(
                session, self.workspace, "kim@people.example", timezone="America/New_York"
            )
            self.template: TemplateRow = delivery.template(session, self.workspace)
            self.other: TemplateRow = delivery.template(session, self.workspace, name="Other")

    def mail(self, **given: Any) -> SendRequest:
        fixed = {
            "contact_id": self.kim.row_id,
            "template_id": self.template.row_id,
            "to_email": "kim@people.example",
            "purpose": MARKETING,
        }
        return delivery.request(self.workspace, **{**fixed, **given})

    def ask(self, *requests: SendRequest, at: datetime = AT) -> list[str | None]:
        """Return why each was withheld, None for what was queued."""
        with self.uow.begin() as session:
            return why(request_many(session, requests, at), requests)

    def allow(self, **columns: Any) -> None:
        with self.uow.begin() as session:
            session.execute(update(Workspace).values(mails_per_day=None).values(**columns))

    def change(self, **columns: Any) -> None:
        with self.uow.begin() as session:
            session.execute(update(Contact).values(**columns))

    def suppress(self, reason: str, email: str = "kim@people.example") -> None:
        with self.uow.begin() as session:
            suppress(session, self.workspace, email, reason)

    def sent(self, **columns: Any) -> None:
        fixed = {
            "contact_id": self.kim.row_id,
            "template_id": self.template.row_id,
            "purpose": MARKETING,
            "queued_at": AT - timedelta(hours=1),
        }
        with self.uow.begin() as session:
            delivery.send(session, self.workspace, **{"status": SENT, **fixed, **columns})

    def count(self) -> int:
        with self.uow.read() as session:
            return session.scalar(select(func.count()).select_from(EmailSend)) or 0


def why(
    answers: Mapping[str, Queued | Withheld], requests: Sequence[SendRequest]
) -> list[str | None]:
    found = [answers[request.dedupe_key] for request in requests]
    return [answer.reason if isinstance(answer, Withheld) else None for answer in found]


def suppress(session: Session, workspace_id: int, email: str, reason: str) -> None:
    columns = {"public_id": new_public_id(), "source": "operator", "created_at": AT}
    session.add(Suppression(workspace_id=workspace_id, email=email, reason=reason, **columns))


@pytest.fixture
def desk(uow: UnitOfWork) -> Desk:
    return Desk(uow)


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


def test_an_opt_out_stops_marketing_and_leaves_service_alone(desk: Desk) -> None:
    desk.change(unsubscribed_at=AT)
    assert desk.ask(desk.mail(), desk.mail(purpose=SERVICE)) == ["unsubscribed", None]


@pytest.mark.parametrize(
    ("purpose", "allow_repeat", "second"),
    [
        (MARKETING, None, "already_received"),
        (MARKETING, False, "already_received"),
        (MARKETING, True, None),
        (SERVICE, None, None),
        (SERVICE, True, None),
        (SERVICE, False, "already_received"),
    ],
)
def test_the_same_template_again_within_a_day_is_one_too_many(
    desk: Desk, purpose: str, allow_repeat: bool | None, second: str | None
) -> None:
    given = {"purpose": purpose, "allow_repeat": allow_repeat}
    # In one batch, and in a later one.
    assert desk.ask(desk.mail(**given), desk.mail(**given)) == [None, second]
    later = AT + timedelta(hours=23, minutes=59)
    assert desk.ask(desk.mail(**given), at=later) == [second]
    other = desk.mail(**given, template_id=desk.other.row_id)
    assert desk.ask(other, at=later) == [None]
    assert desk.ask(desk.mail(**given), at=AT + timedelta(hours=24)) == [None]


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        ({}, "already_received"),
        ({"status": FAILED, "error_code": "SERVER_ERROR"}, None),
        ({"status": FAILED, "error_code": OUTCOME_UNKNOWN}, "already_received"),
        ({"kind": "test"}, None),
        ({"purpose": SERVICE}, "already_received"),
    ],
)
def test_only_what_may_have_arrived_counts(
    desk: Desk, columns: Mapping[str, Any], verdict: str | None
) -> None:
    desk.sent(**columns)
    assert desk.ask(desk.mail()) == [verdict]


def test_the_daily_limit_counts_marketing_of_the_persons_own_day(desk: Desk) -> None:
    # AT is 04:00 in New York, so their day began at 05:00 UTC.
    desk.allow(mails_per_day=2)
    for hours, columns in ((3, {}), (5, {}), (1, {"purpose": SERVICE}), (1, {"kind": "test"})):
        desk.sent(queued_at=AT - timedelta(hours=hours), template_id=None, **columns)
    free = {"allow_repeat": True}
    assert desk.ask(desk.mail(**free), desk.mail(**free), desk.mail(purpose=SERVICE)) == [
        None,
        "daily_limit",
        None,
    ]
    midnight = AT + timedelta(hours=20)
    assert desk.ask(desk.mail(**free), at=midnight - timedelta(seconds=1)) == ["daily_limit"]
    assert desk.ask(*(desk.mail(**free) for _ in range(3)), at=midnight) == [
        None,
        None,
        "daily_limit",
    ]


def test_without_a_zone_of_their_own_the_workspaces_day_counts(desk: Desk) -> None:
    desk.allow(mails_per_day=1, timezone="Asia/Tokyo")
    desk.change(timezone=None)
    # AT is 18:00 in Tokyo: 19 hours ago was yesterday there.
    desk.sent(queued_at=AT - timedelta(hours=19), template_id=None)
    assert desk.ask(desk.mail(), desk.mail(template_id=None)) == [None, "daily_limit"]


@pytest.mark.parametrize(
    ("hours", "until", "spans", "verdict"),
    [
        # 04:00 in New York.
        ("22:00", "06:00", "over midnight", "quiet_hours"),
        ("04:00", "05:00", "from the minute on", "quiet_hours"),
        ("03:00", "04:00", "until the minute", None),
        ("06:00", "22:00", "by day", None),
        ("04:00", "04:00", "no time at all", None),
        ("soon", "later", "nonsense", None),
    ],
)
def test_quiet_hours_are_the_persons_own(
    desk: Desk, hours: str, until: str, spans: str, verdict: str | None
) -> None:
    desk.allow(quiet_from=hours[:5], quiet_until=until)
    assert desk.ask(desk.mail(), desk.mail(purpose=SERVICE)) == [verdict, None], spans


def test_a_zone_nobody_knows_falls_back_to_the_workspaces(desk: Desk) -> None:
    desk.allow(quiet_from="18:00", quiet_until="18:01", timezone="Asia/Tokyo")
    desk.change(timezone="Mars/Olympus")
    assert desk.ask(desk.mail()) == ["quiet_hours"]
    desk.allow(timezone="Moon/Base")
    assert desk.ask(desk.mail()) == [None]


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


def test_racing_batches_never_pass_a_limit_together(desk: Desk) -> None:
    desk.allow(mails_per_day=3)
    start = Barrier(8)

    def ask(_number: int) -> list[str | None]:
        start.wait()
        free = {"allow_repeat": True, "template_id": desk.other.row_id}
        return desk.ask(desk.mail(), desk.mail(**free))

    with ThreadPoolExecutor(8) as threads:
        answers = [each for pair in threads.map(ask, range(8)) for each in pair]
    assert desk.count() == 3
    assert answers.count(None) == 3
    with desk.uow.read() as session:
        greeted = session.scalar(
            select(func.count())
            .select_from(EmailSend)
            .where(EmailSend.template_id == desk.template.row_id)
        )
    assert greeted == 1


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
