"""Pages of runs by filters that no index knows: bounded looks, and cursors that lead on."""

from datetime import timedelta

import pytest

from engine.automations.queries import RunFilter, run_filters
from engine.automations.queries.run_filters import page_ids
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World

PEOPLE = 12


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, PEOPLE)


def pages(world: World, wanted: RunFilter, limit: int) -> list[list[int]]:
    """Return every page that a reader gets who follows the cursors."""
    found: list[list[int]] = []
    cursor: str | None = None
    with world.uow.read() as session:
        while not found or cursor is not None:
            ids, cursor = page_ids(session, world.workspace_id, wanted, cursor, limit)
            found.append(list(ids))
    return found


def runs(world: World, *steps: dict[str, object]) -> list[int]:
    row = world.walk_once(*steps)
    with world.uow.read() as session:
        return [run.id for run in make.runs(session, row)]


def test_a_short_page_leads_on_until_every_run_was_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = runs(world, make.delay("rare", 1))
    runs(world, make.delay("other", 1))
    monkeypatch.setattr(run_filters, "LOOKED_AT", 5)
    found = pages(world, RunFilter(step="rare"), 4)
    assert [each for page in found for each in page] == sorted(wanted, reverse=True)
    assert [] in found
    assert max(len(page) for page in found) <= 4


def test_spans_of_time_are_exact_beside_their_bound_of_ids(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = world.clock.now()
    first = runs(world, make.delay("wait", 1))
    world.clock.advance(timedelta(days=1))
    second = runs(world, make.delay("wait", 1))
    world.clock.advance(timedelta(days=1))
    runs(world, make.delay("wait", 1))
    monkeypatch.setattr(run_filters, "_NEAR", PEOPLE)
    day = timedelta(days=1)
    among = RunFilter(since=start + day, until=start + 2 * day)
    assert sorted(pages(world, among, 50)[0]) == second
    assert sorted(pages(world, RunFilter(until=start + day), 50)[0]) == first
    assert pages(world, RunFilter(since=start + 9 * day), 50) == [[]]
    assert pages(world, RunFilter(until=start - day), 50) == [[]]


def test_a_status_that_there_is_not_finds_nothing_and_another_workspace_nothing(
    world: World,
) -> None:
    ids = runs(world, make.delay("wait", 1))
    assert pages(world, RunFilter(status="lost"), 50) == [[]]
    assert sorted(pages(world, RunFilter(status="running"), 50)[0]) == ids
    assert pages(World(world.uow, world.clock), RunFilter(), 50) == [[]]
