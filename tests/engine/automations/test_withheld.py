"""An email step whose mail is withheld is done with the reason, and the run goes on (A4, A17)."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from engine.accounts.models import Workspace
from engine.audience import service as audience
from engine.audience.inputs import API
from engine.audience.queries import ContactRow
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import SERVICE, EmailSend
from engine.delivery.walker import SendWalker
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories.audience import ACTOR
from tests.factories.delivery import LINKS
from tests.fakes.transports import ScriptedTransport


class Office:
    """A workspace that can send, with one person and a marketing template."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        self.transport = ScriptedTransport()
        self.steps, self.sends = StepWalker(uow), SendWalker(uow, self.transport, LINKS)
        with uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            self.template = delivery.template(session, self.workspace).public_id
            self.service_mail = delivery.template(
                session, self.workspace, purpose=SERVICE, name="Receipt"
            ).public_id
            self.kim: ContactRow = people.contact(session, self.workspace, "kim@people.example")

    def live(self, *steps: dict[str, object], name: str = "Welcome") -> Automation:
        with self.uow.begin() as session:
            raw = make.document(*steps, name=name)
            return make.live(session, self.workspace, raw, self.clock.now())

    def enter(self) -> int:
        with self.uow.begin() as session:
            return make.fire(session, self.workspace, [self.kim], self.clock.now())

    def sweep(self, times: int = 1) -> None:
        for _ in range(times):
            self.steps.sweep()
        self.sends.sweep()

    def leave(self) -> None:
        with self.uow.begin() as session:
            audience.opt_out(
                session, self.workspace, self.kim.public_id, PUBLIC_EMAIL_LINK, self.clock.now()
            )

    def run(self, automation: Automation) -> tuple[AutomationRun, Sequence[AutomationStepRun]]:
        with self.uow.read() as session:
            run = make.runs(session, automation)[-1]
            return run, make.visits(session, run)

    def withheld(self, automation: Automation) -> tuple[str, list[tuple[str, object, int | None]]]:
        """Return the run's status; of each email visit its status, reason and send."""
        run, visits = self.run(automation)
        mails = [visit for visit in visits if visit.step_type == "email"]
        return run.status, [
            (visit.status, (visit.result or {}).get("reason"), visit.email_send_id)
            for visit in mails
        ]

    def mails(self) -> int:
        with self.uow.read() as session:
            return session.scalar(select(func.count()).select_from(EmailSend)) or 0


@pytest.fixture
def office(uow: UnitOfWork, clock: FixedClock) -> Office:
    return Office(uow, clock)


def test_dup_06_two_automations_with_one_template_send_it_once(office: Office) -> None:
    first = office.live(make.email("hello", office.template), name="First")
    second = office.live(make.email("hello", office.template), make.end("over"), name="Second")
    assert office.enter() == 2
    office.sweep(times=100)
    answers = [office.withheld(first), office.withheld(second)]
    # Both came due in one batch: whoever was first sent it.
    assert [status for status, _ in answers] == ["completed", "completed"]
    assert sorted(str(mails[0][1]) for _, mails in answers) == ["None", "already_received"]
    assert office.mails() == len(office.transport.letters) == 1
    with office.uow.read() as session:
        rows = session.scalars(
            select(AutomationStepRun).where(AutomationStepRun.step_type == "email")
        ).all()
    assert len(rows) == 2
    assert {row.attempt for row in rows} == {1}


def test_t_a11_a_suppressed_recipient_completes_the_step_and_the_run_goes_on(
    office: Office,
) -> None:
    with office.uow.begin() as session:
        at = office.clock.now()
        audience.suppress(session, office.workspace, "KIM@people.example", API, ACTOR, at)
    automation = office.live(make.email("hello", office.template), make.delay("wait"))
    office.enter()
    office.sweep()
    assert office.withheld(automation) == ("running", [("completed", "suppressed", None)])
    run, visits = office.run(automation)
    assert (run.current_step_index, visits[-1].step_key) == (1, "wait")
    assert office.mails() == len(office.transport.letters) == 0


def test_t_a9_who_unsubscribed_while_waiting_gets_no_marketing_mail(office: Office) -> None:
    automation = office.live(
        make.delay("wait"),
        make.email("news", office.template),
        make.email("receipt", office.service_mail),
    )
    office.enter()
    office.sweep()
    office.leave()
    office.clock.advance(timedelta(days=1))
    office.sweep()
    status, mails = office.withheld(automation)
    assert (status, [(done, reason) for done, reason, _ in mails]) == (
        "completed",
        [("completed", "unsubscribed"), ("completed", None)],
    )
    assert [letter.recipient for letter in office.transport.letters] == ["kim@people.example"]


def test_t_a9_who_was_deleted_while_waiting_leaves_and_gets_nothing(office: Office) -> None:
    automation = office.live(make.delay("wait"), make.email("news", office.template))
    office.enter()
    office.sweep()
    with office.uow.begin() as session:
        gone = audience.delete_contact(
            session, office.workspace, office.kim.public_id, ACTOR, office.clock.now()
        )
        assert gone is None
    office.clock.advance(timedelta(days=1))
    office.sweep()
    run, _visits = office.run(automation)
    assert (run.status, run.ended_reason) == ("cancelled", "removed")
    assert office.mails() == len(office.transport.letters) == 0


def test_uns_04_who_left_between_queue_and_hand_over_gets_nothing(office: Office) -> None:
    automation = office.live(make.email("news", office.template))
    office.enter()
    office.steps.sweep()
    office.leave()
    office.sends.sweep()
    status, [(done, reason, send)] = office.withheld(automation)
    assert (status, done, reason) == ("completed", "completed", None)
    with office.uow.read() as session:
        row = session.get_one(EmailSend, send)
    assert (row.status, row.error_code) == ("failed", "RECIPIENT_SUPPRESSED")
    assert office.transport.letters == []


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"mails_per_day": 0}, "daily_limit"),
        ({"quiet_from": "09:00", "quiet_until": "10:00"}, "quiet_hours"),
    ],
)
def test_a_workspaces_limits_hold_for_its_automations(
    office: Office, columns: dict[str, object], reason: str
) -> None:
    with office.uow.begin() as session:
        row = session.get_one(Workspace, office.workspace)
        for name, value in columns.items():
            setattr(row, name, value)
    automation = office.live(
        make.email("news", office.template), make.email("receipt", office.service_mail)
    )
    office.enter()
    office.sweep()
    status, mails = office.withheld(automation)
    assert (status, [why for _, why, _ in mails]) == ("completed", [reason, None])
