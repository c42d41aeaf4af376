"""Figures come from the counters alone, in the order of the plan (facts 1.12, 1.15)."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, update

from engine.automations import queries, service
from engine.automations.models import (
    Automation,
    AutomationRevision,
    AutomationRun,
    AutomationStatShard,
    AutomationStepStat,
)
from engine.automations.queries import stats
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, delivery
from tests.factories import automations as make
from tests.factories.world import World


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=5)


def read(world: World, automation: Automation) -> queries.Figures:
    with world.uow.read(world.workspace_id) as session:
        found = queries.figures(session, world.workspace_id, automation.public_id)
    assert found is not None
    return found


def test_a_list_reads_its_counts_from_the_shards(world: World) -> None:
    automation = world.live(make.branch("ask", yes="end"), make.delay("wait"))
    idle = world.live(make.delay("wait"), make.delay("again"))
    world.fire()
    world.walker.sweep()
    ids = [automation.id, idle.id]
    with world.uow.begin() as session:
        # Rows that no counter speaks of are not counted.
        session.execute(update(AutomationRun).values(ended_reason="finished"))
        found = queries.tallies(session, world.workspace_id, ids)
    assert found[automation.id] == queries.Tally(entered=5, inside=2, finished=3, cancelled=0)
    assert found[idle.id] == queries.Tally(entered=5, inside=5, finished=0, cancelled=0)


def test_an_automation_without_a_shard_counts_nothing(world: World) -> None:
    automation = world.live(make.delay("wait"))
    with world.uow.read() as session:
        assert queries.tallies(session, world.workspace_id, [automation.id]) == {
            automation.id: queries.Tally()
        }
    assert read(world, automation).completion_rate == 0.0


def test_visits_are_told_by_step_in_the_order_of_the_document(world: World) -> None:
    automation = world.live(make.branch("ask", yes="bye"), make.delay("wait"), make.end("bye"))
    world.fire()
    world.walker.sweep()
    ask, wait, bye = read(world, automation).steps
    assert (ask.key, ask.type, ask.completed, ask.total, ask.entered) == (
        "ask",
        "condition",
        5,
        5,
        5,
    )
    assert (wait.key, wait.pending, wait.skipped, wait.standing, wait.total, wait.entered) == (
        "wait",
        2,
        3,
        2,
        5,
        2,
    )
    assert (bye.key, bye.type, bye.completed, bye.total) == ("bye", "end", 3, 3)


def test_completed_mails_are_counted_by_what_the_kind_says(uow: UnitOfWork, world: World) -> None:
    with uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        template = delivery.template(session, world.workspace_id)
    automation = world.live(make.email("hello", template.public_id), make.delay("wait"))
    world.fire()
    world.walker.sweep()
    found = read(world, automation)
    assert found.emails_sent == 5
    assert sum(step.completed for step in found.steps) == 5


@pytest.mark.parametrize(
    ("entered", "completed", "cancelled", "rate", "early"),
    [(0, 0, 0, 0.0, 0), (3, 1, 0, 33.3, 0), (3, 2, 1, 66.7, 1), (7, 7, 0, 100.0, 0)],
)
def test_the_rate_has_one_decimal(
    world: World, entered: int, completed: int, cancelled: int, rate: float, early: int
) -> None:
    automation = world.live(make.delay("wait"))
    with world.uow.begin() as session:
        session.execute(
            insert(AutomationStatShard).values(
                workspace_id=world.workspace_id,
                automation_id=automation.id,
                shard=3,
                entered=entered,
                completed=completed,
                cancelled=cancelled,
            )
        )
    found = read(world, automation)
    assert (found.completion_rate, found.cancelled) == (rate, early)


def test_steps_that_only_older_revisions_had_come_last(world: World) -> None:
    automation = world.live(make.delay("old"), make.delay("wait"))
    world.fire()
    with world.uow.begin() as session:
        number = 2
        for steps in ([make.delay("mid")], [make.delay("wait"), make.delay("new")]):
            session.add(
                AutomationRevision(
                    public_id=f"revision-of-the-test-{number}",
                    workspace_id=world.workspace_id,
                    automation_id=automation.id,
                    number=number,
                    document=make.document(*steps),
                    created_by="user:test",
                    created_at=world.clock.now(),
                )
            )
            number += 1
        session.flush()
        newest = max(row.id for row in session.query(AutomationRevision))
        session.execute(update(Automation).values(revision_id=newest))
        for key in ("mid", "forgotten"):
            session.execute(
                insert(AutomationStepStat).values(
                    workspace_id=world.workspace_id,
                    automation_id=automation.id,
                    step_key=key,
                    shard=0,
                    completed=1,
                )
            )
    found = read(world, automation)
    assert [(step.key, step.type, step.total) for step in found.steps] == [
        ("wait", "delay", 0),
        ("new", "delay", 0),
        ("mid", "delay", 1),
        ("old", "delay", 5),
        ("forgotten", "", 1),
    ]


def test_a_draft_shows_its_own_steps(uow: UnitOfWork, world: World) -> None:
    with uow.begin() as session:
        saved = service.create(
            session,
            world.workspace_id,
            make.document(make.delay("one"), make.delay("two")),
            make.ACTOR,
            world.clock.now(),
        )
        assert isinstance(saved, service.Saved)
        found = queries.figures(session, world.workspace_id, saved.public_id)
    assert found is not None
    assert [step.key for step in found.steps] == ["one", "two"]


def test_figures_of_another_workspace_are_not_found(uow: UnitOfWork, world: World) -> None:
    automation = world.live(make.delay("wait"))
    world.fire()
    with uow.begin() as session:
        other = accounts.workspace(session).id
    with uow.read(other) as session:
        assert queries.figures(session, other, automation.public_id) is None
        assert queries.figures(session, other, "no id") is None
        assert queries.tallies(session, other, [automation.id])[automation.id] == queries.Tally()


def test_who_becomes_due_is_counted_up_to_a_bound(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.delay("wait"))
    world.fire()
    soon, late = (world.clock.now() + timedelta(hours=hours) for hours in (1, 25))
    with world.uow.read() as session:
        assert queries.waiting_until(session, world.workspace_id, automation.id, soon) == 0
        assert queries.waiting_until(session, world.workspace_id, automation.id, late) == 5
        monkeypatch.setattr(stats, "MOST_WAITING", 4)
        assert queries.waiting_until(session, world.workspace_id, automation.id, late) is None


def test_nobody_is_inside_only_where_really_nobody_is(world: World) -> None:
    automation = world.live(make.delay("wait"))
    with world.uow.begin() as session:
        assert service.people_inside(session, world.workspace_id, automation.id) == 0
        make.fire(session, world.workspace_id, world.people[:1], world.clock.now())
        # Counted at the commit, and inside already.
        assert service.people_inside(session, world.workspace_id, automation.id) == 1
        make.fire(session, world.workspace_id, world.people[1:], world.clock.now())
    with world.uow.read() as session:
        assert service.people_inside(session, world.workspace_id, automation.id) == 5
