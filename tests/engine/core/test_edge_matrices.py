"""Every machine of the house, every pair of statuses, both doors; generated from the constants.

A new machine is found by walking the engine and fails here until `SUBJECTS` can make its row.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

import engine
from engine.accounts.approval_lifecycle import Verdict
from engine.automations import lifecycle, run_lifecycle
from engine.automations.models import (
    ACTIVE,
    DRAFT,
    PAUSED,
    STEP_RUN_STATUSES,
    AutomationStepRun,
    RunJob,
)
from engine.core import audit, outbox
from engine.core.clock import FixedClock
from engine.core.ids import new_public_id
from engine.core.machine import Machine, transition, transition_many
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.delivery import lifecycle as delivery_lifecycle
from engine.delivery.models import FAILED, SENT
from tests.factories import accounts, asking, audience, delivery
from tests.factories import automations as make
from tests.support.house import START

ACTOR: Final = audit.Actor("user:matrix")
Make = Callable[[Session, str], int]


@dataclass(frozen=True)
class Subject:
    """How the tests drive a machine. make: a row in a status, by its id.

    ask: the input that meets every precondition of an edge; None where the singular door is shut.
    actions: the audit action of each edge; told: whether the product's analytics hear of it.
    """

    make: Make
    ask: Callable[[str, str], Any] | None = None
    actions: Mapping[tuple[str, str], str] | None = None
    told: bool = False


def machines() -> dict[str, Machine[Any, Any]]:
    """Return every machine that a module of the engine holds, by its resource."""
    found: dict[int, Machine[Any, Any]] = {}
    for module in pkgutil.walk_packages(engine.__path__, "engine."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Machine):
                found[id(value)] = value
    assert len({machine.resource for machine in found.values()}) == len(found)
    return {machine.resource: machine for machine in found.values()}


def statuses(machine: Machine[Any, Any]) -> tuple[str, ...]:
    """Return the statuses that the rows' own module lists; the edges name no other."""
    named = {status for edge in machine.edges for status in edge}
    module = importlib.import_module(machine.row.__module__)
    lists = [
        value
        for name, value in vars(module).items()
        if name.endswith("STATUSES") and named <= set(value)
    ]
    assert len(lists) == 1, (machine.resource, lists)
    return tuple(lists[0])


def _status(session: Session, model: Any, row_id: int, status: str) -> int:
    session.execute(update(model).where(model.id == row_id).values({"status": status}))
    return row_id


def _automation(session: Session, status: str) -> int:
    workspace = accounts.workspace(session)
    row = make.live(session, workspace.id, make.document(make.delay("wait")), START)
    return _status(session, type(row), row.id, status)


def _run(session: Session, status: str) -> int:
    workspace = accounts.workspace(session)
    automation = make.live(session, workspace.id, make.document(make.delay("wait")), START)
    make.fire(session, workspace.id, [audience.contact(session, workspace.id)], START)
    run = make.runs(session, automation)[0]
    return _status(session, type(run), run.id, status)


def _step_run(session: Session, status: str) -> int:
    step = AutomationStepRun
    found = session.scalar(
        select(step.id).where(step.automation_run_id == _run(session, "running"))
    )
    assert found is not None
    return _status(session, step, found, status)


def _run_job(session: Session, status: str) -> int:
    row = RunJob(
        workspace_id=accounts.workspace(session).id,
        public_id=new_public_id(),
        action="cancel",
        wanted={},
        status=status,
        first_run_id=1,
        total=1,
        due_at=START,
        created_by=ACTOR.name,
        created_at=START,
    )
    session.add(row)
    session.flush()
    return row.id


def _approval(session: Session, status: str) -> int:
    return asking.stored(session, accounts.workspace(session).id, status, START).id


def _send(session: Session, status: str) -> int:
    return delivery.send(session, accounts.workspace(session).id, status).id


def _ask(before: str, after: str) -> lifecycle.Ask:
    frozen = None
    if (before, after) == (DRAFT, ACTIVE):
        frozen = lifecycle.Frozen(
            revision_id=1,
            number=1,
            trigger_type="event_received",
            trigger_config={"event_name": "go"},
            on_pause="cancel",
            reentry="after_end",
        )
    return lifecycle.Ask(after, steps=1, trigger_complete=True, frozen=frozen)


def _report(_before: str, after: str) -> Any:
    if after == SENT:
        return delivery_lifecycle.Sent("<id@acme.example>", "250 taken")
    if after == FAILED:
        return delivery_lifecycle.Failed("REFUSED", "550 no")
    return delivery_lifecycle.Reported(after)


# By the name of the machine. Actions of automations: facts 1.13.
SUBJECTS: Final[Mapping[str, Subject]] = {
    "approval": Subject(_approval, lambda _before, after: Verdict(after, ACTOR.name)),
    "automation": Subject(
        _automation,
        _ask,
        {
            (DRAFT, ACTIVE): "automation.activated",
            (ACTIVE, PAUSED): "automation.paused",
            (PAUSED, ACTIVE): "automation.resumed",
            (PAUSED, DRAFT): "automation.reverted_to_draft",
        },
        told=True,
    ),
    "automation_run": Subject(_run),
    "automation_step_run": Subject(_step_run),
    "run_job": Subject(_run_job),
    "send": Subject(_send, _report),
}
PLACES: Final = [
    pytest.param(machine, before, id=f"{name}-{before}")
    for name, machine in sorted(machines().items())
    for before in statuses(machine)
]


@contextmanager
def undone(session: Session) -> Iterator[None]:
    """Take back what the block did."""
    with session.begin_nested() as savepoint:
        yield
        savepoint.rollback()


def columns(session: Session, machine: Machine[Any, Any], row_id: int) -> dict[str, Any]:
    """Return every column of a row as it stands in the database."""
    table = machine.row.__table__
    found = session.execute(select(table).where(table.c.id == row_id)).mappings().one()
    return dict(found)


def written(session: Session) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Return (action, details) of the audit rows of the matrix, and how many product events."""
    entry, event = audit.AuditEntry, outbox.ProductEvent
    found = session.execute(
        select(entry.action, entry.details).where(entry.actor == ACTOR.name).order_by(entry.id)
    )
    count = select(func.count()).select_from(event).where(event.actor == ACTOR.name)
    return [(row[0], dict(row[1])) for row in found], session.scalar(count) or 0


def test_every_machine_of_the_house_is_in_the_matrix() -> None:
    assert machines().keys() == SUBJECTS.keys()


@dataclass(frozen=True)
class Seen:
    """What one press of the singular door answered and left behind."""

    outcome: Transitioned | Recorded | Refused
    row: Mapping[str, Any]
    entries: list[tuple[str, dict[str, Any]]]
    told: int


def check(
    machine: Machine[Any, Any], edge: tuple[str, str], unmoved: Mapping[str, Any], seen: Seen
) -> None:
    """Compare what happened on an edge with what the machine's constants say must happen."""
    before, after = edge
    subject = SUBJECTS[machine.resource]
    statuses_told = {"previous_status": before, "new_status": after}
    if before == after:
        details = {**statuses_told, "applied": "recorded", "no_op": True}
        assert seen == Seen(Recorded(before), unmoved, [(machine.action(after), details)], 0)
    elif edge in machine.edges:
        assert seen.outcome == Transitioned(before, after)
        assert (seen.row["status"], seen.told) == (after, int(subject.told))
        ((action, details),) = seen.entries
        actions = subject.actions or {edge: f"{machine.resource}.{after}"}
        assert action == actions[edge]
        assert "no_op" not in details
        assert details.items() >= {**statuses_told, "applied": "transitioned"}.items()
    else:
        assert seen == Seen(Refused("illegal_edge"), unmoved, [], 0)


@pytest.mark.parametrize(("machine", "before"), PLACES)
def test_the_singular_door_moves_along_legal_edges_alone(
    session: Session, clock: FixedClock, machine: Machine[Any, Any], before: str
) -> None:
    subject = SUBJECTS[machine.resource]
    row_id = subject.make(session, before)
    at = clock.now() + timedelta(hours=1)
    unmoved = columns(session, machine, row_id)
    for after in statuses(machine):
        if subject.ask is None:
            with pytest.raises(TypeError, match="plural door"):
                machine.reduce(None, after, at)
            continue
        with undone(session):
            asked = subject.ask(before, after)
            outcome = transition(session, machine, row_id, asked, ACTOR, at)
            seen = Seen(outcome, columns(session, machine, row_id), *written(session))
            check(machine, (before, after), unmoved, seen)


@pytest.mark.parametrize(("machine", "before"), PLACES)
def test_the_plural_door_moves_along_legal_edges_alone(
    session: Session, machine: Machine[Any, Any], before: str
) -> None:
    subject = SUBJECTS[machine.resource]
    rows = {status: subject.make(session, status) for status in statuses(machine)}
    unmoved = {status: columns(session, machine, row_id) for status, row_id in rows.items()}
    model: Any = machine.row
    where = [model.id.in_(rows.values())]
    for after in statuses(machine):
        with undone(session):
            if (before, after) not in machine.edges:
                with pytest.raises(ValueError, match="is no edge"):
                    transition_many(session, machine, (before, after), where, {})
                moved_ids = []
            else:
                moved = transition_many(session, machine, (before, after), where, {})
                moved_ids = [row.id for row in moved]
                assert moved_ids == [rows[before]]
            for status, row_id in rows.items():
                expected = {**unmoved[status], "status": after if row_id in moved_ids else status}
                assert columns(session, machine, row_id) == expected
            assert written(session) == ([], 0)


def test_a_machine_in_any_room_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = dataclasses.replace(run_lifecycle.STEP_RUNS, resource="planted")
    room = importlib.import_module("engine.audience.queries.story")
    monkeypatch.setattr(room, "PLANTED", planted, raising=False)
    assert machines().keys() - SUBJECTS.keys() == {"planted"}
    assert statuses(planted) == STEP_RUN_STATUSES
