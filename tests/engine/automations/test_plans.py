"""How the databases read step runs: by the partial indexes and the key, never row by row.

The statements are those that the walker really sends, explained with their own parameters on
tables of some thousand rows.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event, func, insert, select, text, update
from sqlalchemy.orm import Session

from engine.automations import claim_lifecycle, holding
from engine.automations.models import AutomationRun, AutomationStepRun
from engine.automations.run_lifecycle import STEP_RUNS
from engine.core.clock import FixedClock
from engine.core.machine import born
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.world import World

TABLE: Final = "automation_step_runs"
PENDING: Final = "ix_automation_step_runs_pending"
AWAITS: Final = "ix_automation_step_runs_awaits"
EXECUTING: Final = "ix_automation_step_runs_executing"
# The key: a named index on PostgreSQL, the table itself on SQLite.
KEYS: Final = {"pk_automation_step_runs", "INTEGER PRIMARY KEY"}

_COLUMNS: Final = (
    "workspace_id, automation_run_id, step_index, step_key, step_type, scheduled_at, due_at,"
    " status, attempt"
)
_AGAIN: Final = text(
    f"INSERT INTO {TABLE} ({_COLUMNS}) SELECT {_COLUMNS} FROM {TABLE} WHERE status = 'completed'"
)


@dataclass(frozen=True)
class Sent:
    """A statement as the driver got it, with its parameters."""

    statement: str
    parameters: Any


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    """Return a world whose step runs are many: finished, waiting, due, tried, abandoned."""
    made = World(uow, clock)
    automation = made.live(make.delay("wait", 30))
    made.fire()
    run = made.run(automation)
    with uow.begin() as session:
        for status, number, columns in _crowd(clock):
            shared = {
                "workspace_id": made.workspace_id,
                "automation_run_id": run.id,
                "step_index": 0,
                "step_key": "wait",
                "step_type": "delay",
                "scheduled_at": clock.now(),
                **born(STEP_RUNS, status),
                **columns,
            }
            rows = [
                {**shared, "due_at": columns["due_at"] + timedelta(seconds=second)}
                for second in range(number)
            ]
            session.execute(insert(AutomationStepRun), rows)
        session.execute(text("ANALYZE"))
    return made


def _crowd(clock: FixedClock) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield status, number and columns: whatever is due lies some hours back."""
    at = clock.now()
    past, future = at - timedelta(hours=3), at + timedelta(hours=3)
    yield "completed", 6_000, {"due_at": at - timedelta(days=1), "attempt": 1}
    yield "pending", 2_000, {"due_at": future, "attempt": 0}
    yield "pending", 250, {"due_at": past, "attempt": 0}
    yield "executing", 250, {"due_at": past, "attempt": 1}
    yield "executing", 250, {"due_at": past, "attempt": 1, "lease_until": past}


@contextmanager
def listening(engine: Engine) -> Iterator[list[Sent]]:
    """Yield a list that fills with the statements on step runs."""
    heard: list[Sent] = []

    def hear(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if TABLE in statement:
            heard.append(Sent(statement, parameters))

    event.listen(engine, "before_cursor_execute", hear)
    try:
        yield heard
    finally:
        event.remove(engine, "before_cursor_execute", hear)


def plan(session: Session, sent: Sent) -> set[str]:
    """Return what reads step runs: names of indexes, `row by row` for a scan."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        lines = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN {sent.statement}", sent.parameters
        ).all()
        return {_sqlite_way(line[-1]) for line in lines if TABLE in line[-1]}
    found: Any = connection.exec_driver_sql(
        f"EXPLAIN (FORMAT JSON) {sent.statement}", sent.parameters
    ).scalar()
    return set(_postgres_ways(found[0]["Plan"]))


def _sqlite_way(line: str) -> str:
    found = re.search(rf"SEARCH {TABLE} USING (?:COVERING )?(?:INDEX )?(.*?) \(", line)
    return found[1] if found else f"row by row: {line}"


def _postgres_ways(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] == TABLE:
        yield "row by row: Seq Scan"
    if TABLE in node.get("Index Name", ""):
        yield node["Index Name"]
    for inner in node.get("Plans", ()):
        yield from _postgres_ways(inner)


def explained(world: World, action: Callable[[], object]) -> Sequence[set[str]]:
    """Return the plans of the statements on step runs that `action` sends."""
    with listening(world.uow.database.engine) as heard:
        action()
    assert heard
    with world.uow.read() as session:
        return [plan(session, sent) for sent in heard]


def take(world: World, way: str, ids: Sequence[int] | None = None) -> Callable[[], object]:
    """Return an action that claims fifty step runs in one way."""

    def claim() -> None:
        with world.uow.begin() as session:
            taken = claim_lifecycle.take(session, way, ids, 50, world.clock.now())
        assert len(taken) == 50

    return claim


@pytest.mark.parametrize(
    ("way", "index"), [("first", PENDING), ("retry", EXECUTING), ("lapsed", EXECUTING)]
)
def test_a_claim_reads_the_due_index_and_writes_by_the_key(
    world: World, way: str, index: str
) -> None:
    (ways,) = explained(world, take(world, way))
    assert index in ways
    assert ways <= {index, *KEYS}
    assert ways & KEYS


def test_a_claim_of_hinted_step_runs_never_reads_row_by_row(world: World) -> None:
    row = AutomationStepRun
    with world.uow.read() as session:
        due = select(row.id).where(row.status == "pending", row.due_at <= world.clock.now())
        ids = session.scalars(due.order_by(row.id).limit(50)).all()
    (ways,) = explained(world, take(world, "first", ids))
    assert ways <= {PENDING, *KEYS}
    assert ways & KEYS


def test_what_comes_before_the_next_sweep_is_read_from_the_due_index(world: World) -> None:
    def ask() -> None:
        at = world.clock.now()
        with world.uow.read() as session:
            until = at + timedelta(hours=3, seconds=9)
            assert len(claim_lifecycle.coming(session, at, until)) == 10

    assert explained(world, ask) == [{PENDING}]


def test_a_sweep_with_nothing_due_touches_the_due_indexes_alone(world: World) -> None:
    world.clock.advance(-timedelta(hours=4))

    def sweep() -> None:
        done = world.walker.sweep()
        assert not any(done.values()), done

    plans = explained(world, sweep)
    assert len(plans) >= 4
    assert all(ways <= {PENDING, EXECUTING, *KEYS} for ways in plans), plans


def test_what_a_resume_makes_due_is_read_from_the_due_indexes(world: World) -> None:
    with world.uow.read() as session:
        owner = session.scalars(select(AutomationRun)).one().automation_id

    def ask() -> None:
        at = world.clock.now()
        with world.uow.read() as session:
            assert holding.hint_due(session, world.workspace_id, owner, at) == 500

    plans = explained(world, ask)
    assert len(plans) == 2
    assert all(ways == {PENDING, EXECUTING} for ways in plans), plans


def test_a_whole_beat_never_reads_row_by_row(world: World) -> None:
    # A small table PostgreSQL rightly reads as a whole to join it with a batch.
    with world.uow.begin() as session:
        for _doubling in range(2):
            session.execute(_AGAIN)
        session.execute(text("ANALYZE"))
    with world.uow.begin() as session:
        crowd = [audience.contact(session, world.workspace_id) for _ in range(20)]
        steps, at = (make.delay("short", 1, "minutes"), make.end("last")), world.clock.now()
        trigger = {"type": "event_received", "config": {"event_name": "off"}}
        make.live(session, world.workspace_id, make.document(*steps, trigger=trigger), at)
        assert make.fire(session, world.workspace_id, crowd, at, "off") == 20
    with world.uow.read() as session:
        row = AutomationStepRun
        ids = session.scalars(select(row.id).where(row.step_key == "short")).all()
    world.clock.advance(timedelta(minutes=2))
    plans = explained(world, lambda: world.walker.walk(ids))
    read = [ways for ways in plans if ways]
    assert len(read) >= 2
    assert not any("row by row" in way for ways in read for way in ways), plans


def test_a_plan_that_reads_row_by_row_is_recognised(world: World) -> None:
    def read_all() -> None:
        with world.uow.read() as session:
            row = AutomationStepRun
            counted = select(func.count()).select_from(row).where(row.step_key == "wait")
            assert session.scalar(counted) == 8_751

    (ways,) = explained(world, read_all)
    assert any(way.startswith("row by row") for way in ways)


def test_an_event_for_which_nobody_waits_is_one_look_at_an_index(
    world: World,
) -> None:
    with world.uow.begin() as session:
        # Of some two thousand who wait, every other one listens, to two names.
        for name, rest in (("paid", 0), ("read", 2)):
            which = AutomationStepRun.id % 4 == rest
            waiting = AutomationStepRun.status == "pending"
            values = {"awaits": name}
            session.execute(update(AutomationStepRun).where(waiting, which).values(values))
        session.execute(text("ANALYZE"))

    at = world.clock.now()

    def tell(name: str) -> Sequence[set[str]]:
        with world.uow.begin(world.workspace_id) as session, session.begin_nested() as undone:
            people = world.people
            ways = explained(
                world, lambda: make.fire(session, world.workspace_id, people, at, name)
            )
            undone.rollback()
            return ways

    assert tell("other") == [{AWAITS}]
    assert tell("paid")[0] == {AWAITS}
