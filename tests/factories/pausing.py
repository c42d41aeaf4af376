"""Pausing and resuming in a walker's world, and a step that fails until a test says otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.automations import service
from engine.automations.kinds.steps.base import Failed, Outcome, StepKind, Visit
from engine.automations.kinds.steps.delay import DelayStep
from engine.automations.models import ACTIVE, PAUSED, Automation
from engine.core.outcome import Refused
from tests.factories import automations as make
from tests.factories.world import World

WISH: Final = {PAUSED: service.Wish(PAUSED), ACTIVE: service.Wish(ACTIVE)}


def live(world: World, *steps: dict[str, Any], on_pause: str = "hold") -> Automation:
    """Return a live automation that holds people while it is paused, unless said otherwise."""
    with world.uow.begin() as session:
        raw = make.document(*steps, on_pause=on_pause)
        return make.live(session, world.workspace_id, raw, world.clock.now())


def move(world: World, row: Automation, wish: service.Wish) -> service.StatusChange:
    """Return what a move did that was not refused."""
    with world.uow.begin() as session:
        done = service.change_status(
            session, world.workspace_id, row.public_id, wish, make.ACTOR, world.clock.now()
        )
    assert not isinstance(done, Refused), done
    return done


class Failing(StepKind[Any, Any]):
    """A step that fails until a test says otherwise."""

    Config = DelayStep.Config
    outcome: Outcome = Failed("NO", "not now")

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Mapping[int, Outcome]:
        return {visit.id: self.outcome for visit in visits}
