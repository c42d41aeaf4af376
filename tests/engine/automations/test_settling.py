"""Settling a batch: one item's fault is that item's, never the batch's (architecture 3)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from engine.automations import settling
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Completed, Outcome, Visit
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World
from tests.fakes.steps import Scripted


def test_an_outcome_that_the_database_refuses_fails_its_own_item_alone(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(uow, clock, people=3)
    automation = world.live(make.branch("a"))
    world.fire()
    original, settled = settling.settle, []

    def settle(session: Any, items: Any, outcomes: Any, at: Any) -> Any:
        settled.append(len(items))
        refused = min(item.id for item in items)
        if refused == first and isinstance(outcomes[refused], Completed):
            raise IntegrityError("a statement", {}, ValueError("refused"))
        return original(session, items, outcomes, at)

    monkeypatch.setattr(settling, "settle", settle)
    with uow.read() as session:
        first = min(make.visits(session, run)[0].id for run in make.runs(session, automation))
    world.walker.sweep()
    assert settled[:2] == [3, 1]  # together, then singly
    with uow.read() as session:
        runs = make.runs(session, automation)
        codes = [make.visits(session, run)[0].error_code for run in runs]
    assert sorted(code or "" for code in codes) == ["", "", "STEP_CRASHED"]
    assert sorted(run.status for run in runs) == ["completed", "completed", "running"]


class OddOne(Scripted):
    """Answers the same for everybody but the first, whose answer no database can hold."""

    def __init__(self, odd: object) -> None:
        super().__init__(Completed())
        self.odd = Completed(result={"answer": odd})

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Mapping[int, Outcome]:
        """Answer."""
        found = super().run(visits, facts)
        return {**found, self.ran[0]: self.odd} if self.ran[0] in found else found


@pytest.mark.parametrize("odd", ["\ud83d", float("nan"), {1, 2}], ids=["half", "nan", "set"])
def test_an_outcome_that_cannot_be_written_has_nobody_run_again(
    uow: UnitOfWork, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    kind = OddOne(odd)
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    world = World(uow, clock, people=3)
    automation = world.live(make.end("a"))
    world.fire()
    world.walker.sweep()
    assert len(kind.ran) == 3
    with uow.read() as session:
        visits = [make.visits(session, run)[0] for run in make.runs(session, automation)]
    told = sorted((visit.status, visit.error_code) for visit in visits)
    assert told == [("completed", None), ("completed", None), ("executing", "STEP_CRASHED")]
