"""Steps that call servers of others: run last, in a part of their own, and told in the log."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import select

from engine.accounts.models import Secret
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed, Failed, Outcome, Visit
from engine.automations.models import AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World
from tests.fakes.steps import Scripted, script

_NOW: Final = timedelta(0)


class Calling(Scripted):
    """A step that notes what stood in the database while it called, and whom it called for."""

    network = True

    def __init__(self, world: World, *outcomes: Outcome | BaseException) -> None:
        super().__init__(*outcomes)
        self.world = world
        self.met: list[list[str]] = []
        self.visits: list[Visit[Any]] = []

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Mapping[int, Outcome]:
        """Look at the log, then do as told."""
        self.visits += visits
        with self.world.uow.read() as session:
            row = AutomationStepRun
            found = session.execute(select(row.step_key, row.status).order_by(row.id))
            self.met.append([f"{key} {status}" for key, status in found])
        return super().run(visits, facts)


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=2)


@pytest.fixture
def calling(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Calling]:
    """Put a calling kind in the place of `end`."""
    kind = Calling(world, Completed())
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    yield kind
    with world.uow.read() as session:
        assert_books(session)


def test_what_stays_in_the_house_is_settled_before_anybody_is_called(
    world: World, calling: Calling
) -> None:
    inside = world.live(make.branch("ask", "next", "next"), make.delay("next"))
    outside = world.live(make.end("call"))
    world.fire()
    world.walker.walk([visit.id for each in (outside, inside) for visit in world.visits(each)])
    [met] = calling.met
    assert "ask completed" in met
    assert world.log(outside) == [("call", "completed")]
    assert world.log(inside)[0] == ("ask", "completed")


def test_a_batch_of_calls_alone_is_one_part(world: World, calling: Calling) -> None:
    automation = world.live(make.end("call"))
    world.fire()
    world.walker.sweep()
    assert (len(calling.met), len(calling.ran)) == (1, 2)
    assert world.run(automation).status == "completed"


def test_a_visit_says_whose_and_where_it_is_and_keeps_its_key_over_tries(
    world: World, calling: Calling
) -> None:
    automation = world.live(make.end("call"))
    calling.outcomes = [Failed("NO", "no"), Completed()]
    world.fire()
    world.walker.sweep()
    world.clock.advance(world.visits(automation)[0].due_at - world.clock.now())
    world.walker.sweep()
    person = world.people[0]
    mine = [visit for visit in calling.visits if visit.contact_id == person.row_id]
    assert [visit.attempt for visit in mine] == [1, 2]
    assert len({visit.key for visit in mine}) == 1
    assert {(visit.person, visit.automation, visit.step) for visit in mine} == {
        (person.public_id, automation.public_id, "call")
    }


def test_what_a_server_answered_is_kept_with_the_try_that_failed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    automation = world.live(make.end("call"))
    detail = {"status": 503, "body": "later"}
    script(monkeypatch, Failed("REFUSED", "503", detail), Failed("NO", "no"), Completed())
    world.fire()
    for _ in range(3):
        world.walker.sweep()
        world.clock.advance(max(world.visits(automation)[0].due_at - world.clock.now(), _NOW))
    failures = world.visits(automation)[0].failures or []
    assert [entry.get("detail") for entry in failures] == [detail, None]


def test_a_secret_that_was_needed_is_noted_as_used(
    world: World, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.uow.begin() as session:
        row = Secret(
            public_id="sec1",
            workspace_id=world.workspace_id,
            name="Hook",
            kind="signing",
            sealed="v1.",
            hint="0000",
            created_by="user:test",
            created_at=clock.now(),
        )
        session.add(row)
        session.flush()
        secret_id = row.id
    script(monkeypatch, Completed(used=(secret_id,)))
    world.live(make.end("call"))
    world.fire()
    world.walker.sweep()
    with world.uow.read() as session:
        assert session.scalars(select(Secret.last_used_at)).one() == clock.now()
