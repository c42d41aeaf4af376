"""The retention: what goes, what stays, what stays counted, and that nobody waits for it."""

import time
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Event as Signal
from threading import Thread

import pytest
from sqlalchemy import insert, select, update

from engine import pruning
from engine.accounts.models import Approval
from engine.automations.models import (
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import RUNS, STEP_RUNS
from engine.core import audit, outbox
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.ids import new_public_id
from engine.core.machine import born
from engine.core.outbox import ProductEvent
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import pruning as delivery
from engine.delivery.models import QUEUED, EmailSend, SentMessage
from tests.engine.pruning.forgetting import DAYS, count, sent, totals
from tests.factories import accounts, asking
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.support.house import START


def test_old_finished_runs_go_with_their_log_and_the_totals_stay(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    world.walk_once(make.end("a"))
    before = totals(uow)
    clock.advance(timedelta(days=DAYS + 1))
    world.walk_once(make.end("b"))
    done = pruning.retention(uow)
    assert (done["runs"], done["events"]) == (1, 2)
    assert (count(uow, AutomationRun), count(uow, AutomationStepRun)) == (1, 1)
    after = totals(uow)
    assert after == [2 * number for number in before]
    with uow.read() as session:
        assert_books(session, pruned=True)


def test_what_is_younger_than_the_limit_stays(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    world.walk_once(make.end("a"))
    clock.advance(timedelta(days=DAYS))
    done = pruning.retention(uow)
    assert (done["runs"], done["events"], done["audit_lines"]) == (0, 0, 0)
    assert (count(uow, AutomationRun), count(uow, Event)) == (1, 2)


def test_a_run_under_way_keeps_its_log_its_event_and_its_mail(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    automation = world.live(make.delay("wait", 90, "days"), make.end("last"))
    world.fire()
    mail = link_mail(world, automation)
    clock.advance(timedelta(days=DAYS + 1))
    done = pruning.retention(uow)
    assert (done["runs"], done["sends"]) == (0, 0)
    with uow.read() as session:
        assert session.scalars(select(Event.kind)).all() == ["event_received"]
        assert session.scalars(select(EmailSend.id)).all() == [mail]
    clock.advance(timedelta(days=60))
    world.walker.sweep()
    clock.advance(timedelta(days=DAYS + 1))
    done = pruning.retention(uow)
    assert (done["runs"], done["sends"], done["events"]) == (1, 1, 1)
    assert (count(uow, SentMessage), count(uow, AutomationStepRun)) == (0, 0)


def link_mail(world: World, automation: Automation) -> int:
    """Let the first visit of the run have asked for a mail; return the mail's row id."""
    with world.uow.begin() as session:
        run = make.runs(session, automation)[0]
        row = sent(session, world, run.contact_id)
        visit = make.visits(session, run)[0]
        session.execute(
            update(AutomationStepRun)
            .where(AutomationStepRun.id == visit.id)
            .values(email_send_id=row.id)
        )
        return row.id


def test_old_mails_go_but_for_those_that_still_wait(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        sent(session, world, None)
        waiting = sent(session, world, world.people[0].row_id, QUEUED).id
    clock.advance(timedelta(days=DAYS + 1))
    with uow.begin() as session:
        fresh = sent(session, world, None).id
    assert pruning.retention(uow)["sends"] == 1
    with uow.read() as session:
        assert session.scalars(select(EmailSend.id).order_by(EmailSend.id)).all() == [
            waiting,
            fresh,
        ]
    assert count(uow, SentMessage) == 2


def test_the_audit_log_is_kept_as_long_as_its_workspace_says(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        longer = accounts.workspace(session, "Longer", retention_days=3650).id
        shorter = accounts.workspace(session, "Shorter", retention_days=7).id
        session.flush()
        for workspace_id in (longer, shorter, world.workspace_id):
            subject = audit.Subject(workspace_id, "thing", "t")
            audit.record(session, subject, "thing.done", audit.system("test"), clock.now())
    clock.advance(timedelta(days=8))
    assert pruning.retention(uow)["audit_lines"] == 1
    clock.advance(timedelta(days=DAYS))
    assert pruning.retention(uow)["audit_lines"] == 1
    with uow.read() as session:
        assert session.scalars(select(AuditEntry.workspace_id)).all() == [longer]


def test_product_events_are_kept_for_thirty_days_delivered_or_not(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        for name in ("waits", "delivered late"):
            who = audit.system("test")
            outbox.record(session, world.workspace_id, name, who, {}, clock.now())
    clock.advance(timedelta(days=20))
    with uow.begin() as session:
        late = ProductEvent.name == "delivered late"
        session.execute(update(ProductEvent).where(late).values(delivered_at=clock.now()))
    clock.advance(timedelta(days=11))
    assert pruning.retention(uow)["product_events"] == 1
    with uow.read() as session:
        assert session.scalars(select(ProductEvent.name)).all() == ["delivered late"]
    clock.advance(timedelta(days=20))
    assert pruning.retention(uow)["product_events"] == 1


@pytest.mark.parametrize("size", [1, 2, 3, 500])
def test_any_number_of_slices_forgets_the_same(
    world: World, uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    with uow.begin() as session:
        for _old in range(7):
            sent(session, world, None)
    clock.advance(timedelta(days=DAYS + 1))
    with uow.begin() as session:
        for _young in range(2):
            sent(session, world, None)
    some = partial(delivery.old_sends, limit=size)
    monkeypatch.setattr("engine.delivery.pruning.old_sends", some)
    assert pruning.retention(uow)["sends"] == 7
    assert count(uow, EmailSend) == 2


@dataclass
class Neighbour:
    """Somebody who writes all the time, in a thread, and notes the longest wait."""

    uow: UnitOfWork
    workspace_id: int
    longest: float = 0.0
    written: int = 0

    def work(self, over: Signal) -> None:
        """Write until `over`; a short breath between two writes."""
        subject = audit.Subject(self.workspace_id, "thing", "t")
        while not over.wait(0.002):
            began = time.monotonic()
            with self.uow.begin() as session:
                audit.record(session, subject, "thing.done", audit.system("test"), START)
            self.longest = max(self.longest, time.monotonic() - began)
            self.written += 1


def many_old_runs(world: World, automation: Automation, runs: int, visits: int) -> None:
    """Add finished runs with their visits, old enough to go."""
    at = world.clock.now()
    with world.uow.begin() as session:
        session.execute(insert(AutomationRun), [
            {
                "workspace_id": world.workspace_id, "public_id": new_public_id(),
                "automation_id": automation.id, "revision_id": automation.revision_id,
                "contact_id": world.people[0].row_id, "triggered_by": "event_received",
                "started_at": at, "completed_at": at, **born(RUNS, "completed"),
            }
            for _run in range(runs)
        ])  # fmt: skip
        for run_id in session.scalars(select(AutomationRun.id)).all():
            session.execute(insert(AutomationStepRun), [
                {
                    "workspace_id": world.workspace_id, "automation_run_id": run_id,
                    "step_index": place, "step_key": "a", "step_type": "end", "scheduled_at": at,
                    "due_at": at, "completed_at": at, **born(STEP_RUNS, "completed"),
                }
                for place in range(visits)
            ])  # fmt: skip


def test_seg_05_old_rows_go_without_keeping_others_from_writing(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    automation = world.live(make.end("a"))
    many_old_runs(world, automation, 1_000, 20)
    clock.advance(timedelta(days=DAYS + 1))
    world.fire()
    world.walker.sweep()
    before = totals(uow)
    neighbour, over = Neighbour(uow, world.workspace_id), Signal()
    thread = Thread(target=neighbour.work, args=(over,))
    thread.start()
    try:
        done = pruning.retention(uow)
    finally:
        over.set()
        thread.join(30)
    assert done["runs"] == 1_000
    assert (count(uow, AutomationRun), count(uow, AutomationStepRun)) == (1, 1)
    assert neighbour.written >= 10
    assert neighbour.longest < 1.0
    assert totals(uow) == before


def test_requests_that_were_decided_go_and_those_that_wait_stay(
    world: World, uow: UnitOfWork, clock: FixedClock
) -> None:
    place = world.workspace_id
    with uow.begin() as session:
        waits = asking.stored(session, place, "pending", clock.now()).public_id
        for status in ("granted", "denied", "withdrawn"):
            asking.stored(session, place, status, clock.now())
    clock.advance(timedelta(days=DAYS + 1))
    with uow.begin() as session:
        young = asking.stored(session, place, "granted", clock.now()).public_id
    assert pruning.retention(uow)["requests"] == 3
    with uow.read() as session:
        assert set(session.scalars(select(Approval.public_id))) == {waits, young}
