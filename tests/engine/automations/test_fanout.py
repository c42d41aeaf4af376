"""From events to runs: who enters, who does not, and that guard and insert are one."""

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from engine.audience.queries import ContactRow
from engine.automations import service
from engine.automations.effects import WalkSteps
from engine.automations.models import RUNNING
from engine.core import events
from engine.core.clock import FixedClock
from engine.core.effects import CHUNK
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience
from tests.factories import automations as make
from tests.fakes.dispatch import RecordingDispatch


def people(session: Session, workspace_id: int, count: int) -> Sequence[ContactRow]:
    """Return new contacts."""
    return [audience.contact(session, workspace_id) for _ in range(count)]


def test_a_person_inside_does_not_enter_again(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    automation = make.live(session, workspace.id, make.document(make.delay("a")), at)
    crowd = people(session, workspace.id, 3)
    assert make.fire(session, workspace.id, crowd, at) == 3
    assert make.fire(session, workspace.id, crowd, at) == 0
    assert make.fire(session, workspace.id, [*crowd, crowd[0]], at, name="other") == 0
    assert [run.status for run in make.runs(session, automation)] == [RUNNING] * 3


def test_one_batch_starts_one_run_a_person(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    make.live(session, workspace.id, make.document(make.delay("a")), at)
    person = people(session, workspace.id, 1)[0]
    assert make.fire(session, workspace.id, [person, person], at) == 1


def test_what_happened_before_the_activation_starts_nothing(
    session: Session, clock: FixedClock
) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    make.live(session, workspace.id, make.document(make.delay("a")), at)
    crowd = people(session, workspace.id, 1)
    earlier = at - timedelta(seconds=1)
    assert make.fire(session, workspace.id, crowd, at, occurred_at=earlier) == 0
    assert make.fire(session, workspace.id, crowd, at, occurred_at=at) == 1


def test_drafts_and_other_workspaces_hear_nothing(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    here, there = accounts.workspace(session), accounts.workspace(session)
    service.create(session, here.id, make.document(make.delay("a")), make.ACTOR, at)
    make.live(session, there.id, make.document(make.delay("a")), at)
    assert make.fire(session, here.id, people(session, here.id, 1), at) == 0


def test_every_matching_automation_starts(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    for _ in range(2):
        make.live(session, workspace.id, make.document(make.delay("a")), at)
    assert make.fire(session, workspace.id, people(session, workspace.id, 1), at) == 2


def test_a_run_keeps_what_started_it(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    automation = make.live(session, workspace.id, make.document(make.delay("a")), at)
    make.fire(session, workspace.id, people(session, workspace.id, 1), at, plan="gold")
    run = make.runs(session, automation)[0]
    assert run.triggered_by == "event_received"
    assert run.trigger_data == {"event_name": "go", "event_properties": '{"plan": "gold"}'}
    assert run.event_id is not None


def test_a_bulk_write_may_ask_to_start_nothing(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    raw = make.document(make.delay("a"), trigger={"type": "contact_created"})
    person = people(session, workspace.id, 1)[0]
    make.live(session, workspace.id, raw, at)
    for start, expected in ((False, 0), (True, 1)):
        event = events.NewEvent(
            workspace.id,
            person.row_id,
            "contact_created",
            "import",
            at,
            start_automations=start,
        )
        assert events.record(session, [event], at).started.total() == expected


def test_a_changed_property_matches_by_membership(session: Session, clock: FixedClock) -> None:
    at = clock.now()
    workspace = accounts.workspace(session)
    trigger = {"type": "contact_updated", "config": {"property_key": "plan"}}
    make.live(session, workspace.id, make.document(make.delay("a"), trigger=trigger), at)
    person = people(session, workspace.id, 1)[0]

    def change(*keys: str) -> int:
        data = {"changed_properties": list(keys)}
        event = events.NewEvent(
            workspace.id, person.row_id, "contact_updated", "api", at, data=data
        )
        return events.record(session, [event], at).started.total()

    assert change("Plan", "first_name") == 0
    assert change("first_name", "plan") == 1


def test_hints_leave_in_chunks_after_the_commit(
    uow: UnitOfWork, clock: FixedClock, dispatch: RecordingDispatch
) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session)
        make.live(session, workspace.id, make.document(make.end("a")), clock.now())
        make.fire(session, workspace.id, people(session, workspace.id, CHUNK + 50), clock.now())
        assert dispatch.effects == []
    assert [len(hint.step_run_ids) for hint in dispatch.of(WalkSteps)] == [CHUNK, 50]


def test_equal_triggers_in_parallel_start_one_run(uow: UnitOfWork, clock: FixedClock) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session)
        automation = make.live(session, workspace.id, make.document(make.delay("a")), clock.now())
        person = people(session, workspace.id, 1)
    barrier, started = threading.Barrier(8), []

    def fire(at: datetime) -> None:
        barrier.wait()
        with uow.begin() as session:
            started.append(make.fire(session, workspace.id, person, at))

    threads = [threading.Thread(target=fire, args=(clock.now(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(started) == [0] * 7 + [1]
    with uow.read() as session:
        assert len(make.runs(session, automation)) == 1
