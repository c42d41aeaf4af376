"""What must hold after any history: nobody lost, nothing twice, the log a way through the plan."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.graph import Graph, link
from engine.automations.models import (
    HOLD,
    PAUSED,
    RUNNING,
    SKIPPED,
    Automation,
    AutomationRevision,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import MAX_EXECUTIONS, MAX_STEPS_PER_RUN
from engine.core import faults
from engine.core.outbox import ProductEvent
from engine.delivery.models import FAILED, SENT, EmailSend
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN, TRIES
from tests.engine.automations.history import Installation
from tests.factories import books
from tests.factories.books import assert_books

_ROUNDS: Final = 60
_ROUND: Final = timedelta(minutes=20)


def assert_sound(house: Installation) -> None:
    """Check what holds at any moment, also in the middle of a history."""
    with house.uow.read() as session:
        # A run may be ended while one of its steps is under way.
        wrong = [each for each in books.faults(session) if "ended and has open" not in each]
        assert not wrong, wrong
        _assert_ways(session)
        _assert_copies(session, house, settled=False)


def finish(house: Installation) -> None:
    """Let the world be kind from now on, with sweeps alone, until nothing is left to do."""
    faults.disarm()
    house.odd.moods.clear()
    house.transport.before.clear()
    house.transport.behind.clear()
    house.slow.clear()
    house.lose()
    while house.claimed:
        house.survive(lambda: house.finish_claimed(0))
    _drain(house)
    with house.uow.read() as session:
        assert_books(session)
        _assert_only_held_wait(session)
    for name in house.automations:
        house.move(name, service.Wish("active"))
    _drain(house)
    with house.uow.read() as session:
        assert_books(session)
        _assert_ways(session)
        _assert_copies(session, house, settled=True)
        _assert_ended(session)
        _assert_told(session, house)


def _drain(house: Installation) -> None:
    for _ in range(_ROUNDS):
        house.clock.advance(_ROUND)
        house.walkers[0].sweep()
        house.senders[0].sweep()
        house.sweep("outbox")
        if house.waiting() == (0, 0):
            return
    raise AssertionError(f"never quiet: {house.waiting()} visits and mails are still open")


def _assert_only_held_wait(session: Session) -> None:
    """Check that whoever is still inside is inside an automation that is on hold."""
    statement = (
        select(AutomationRun.id, Automation.status, Automation.on_pause)
        .join(Automation, Automation.id == AutomationRun.automation_id)
        .where(AutomationRun.status == RUNNING)
    )
    for run_id, status, on_pause in session.execute(statement):
        assert (status, on_pause) == (PAUSED, HOLD), f"run {run_id} is lost"


def _assert_ended(session: Session) -> None:
    found = session.scalars(select(AutomationRun.id).where(AutomationRun.status == RUNNING)).all()
    assert not found, f"runs {found} never ended"


def _assert_told(session: Session, house: Installation) -> None:
    """Check that every product event arrived; a crash may double it under the same uuid."""
    row = ProductEvent
    for public_id, delivered_at in session.execute(select(row.public_id, row.delivered_at)):
        assert delivered_at is not None
        assert house.receiver.taken[str(uuid5(NAMESPACE_URL, public_id))]
    known = set(session.scalars(select(row.public_id)))
    assert len(house.receiver.taken) == len(known)


def _assert_ways(session: Session) -> None:
    """Check that each run's visits are one way through its plan, nothing left out or repeated."""
    plans = _plans(session)
    runs = {run.id: run for run in session.scalars(select(AutomationRun))}
    visits: dict[int, list[AutomationStepRun]] = defaultdict(list)
    for visit in session.scalars(select(AutomationStepRun).order_by(AutomationStepRun.id)):
        assert visit.attempt <= MAX_EXECUTIONS + 1, visit.id
        # A skip by a person bears a result and was claimed; one by a jump was never a place.
        if visit.status != SKIPPED or visit.attempt:
            visits[visit.automation_run_id].append(visit)
    for run_id, run in runs.items():
        assert run.steps_executed <= MAX_STEPS_PER_RUN + 1, run_id
        keys = [visit.step_key for visit in visits[run_id]]
        _assert_way(run_id, keys, plans[run.automation_id])


def _assert_way(run_id: int, keys: Sequence[str], plans: Sequence[Graph]) -> None:
    known: dict[str, set[str]] = defaultdict(set)
    for plan in plans:
        for step in plan.steps:
            ways = {step.after, *step.exits.values()}
            known[step.key] |= {after.key for way in ways if (after := plan.at(way))}
    assert keys, f"run {run_id} stands nowhere"
    assert keys[0] in {plan.steps[0].key for plan in plans}
    for here, there in pairwise(keys):
        assert there in known[here], f"run {run_id} went from {here} to {there}: {keys}"


def _plans(session: Session) -> Mapping[int, Sequence[Graph]]:
    found: dict[int, list[Graph]] = defaultdict(list)
    owners = select(AutomationRun.automation_id)
    statement = select(AutomationRevision.automation_id, AutomationRevision.document).where(
        AutomationRevision.automation_id.in_(owners)
    )
    for automation_id, document in session.execute(statement):
        found[automation_id].append(link(document["steps"]))
    return found


def _assert_copies(session: Session, house: Installation, *, settled: bool) -> None:
    """Check copies per mail at the server: one where the log says sent, else one at most.

    settled: everything has ended, so a copy is known to the log, or marked as unknown.
    """
    copies = Counter(letter.public_id for letter in house.transport.letters)
    sends = session.scalars(select(EmailSend)).all()
    assert copies.keys() <= {send.public_id for send in sends}
    for send in sends:
        times = copies[send.public_id]
        assert times <= 1, f"mail {send.id} left {times} times"
        assert send.attempt <= TRIES
        if send.status == SENT:
            assert times == 1, f"mail {send.id} is called sent"
        elif settled:
            assert send.status == FAILED
            assert not times or send.error_code == OUTCOME_UNKNOWN, f"mail {send.id} left"
    _assert_mailed(session, settled=settled)


def _assert_mailed(session: Session, *, settled: bool) -> None:
    """Check that a completed email step has its mail, or says why there is none."""
    if not settled:
        return
    row = AutomationStepRun
    statement = select(row.id, row.email_send_id, row.result).where(
        row.step_type == "email", row.status == "completed"
    )
    for visit_id, send, result in session.execute(statement):
        why: Any = (result or {}).get("reason")
        assert (send is None) != (why is None), f"visit {visit_id}: {send}, {why}"
