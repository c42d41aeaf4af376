"""The contract of foresight: what a step would do to somebody, told without doing it.

One file for each step kind (a test says so). Pure over a scene: reads, writes nothing, calls nobody
outside the house. Where it can, it asks the kind's own `run`, so that both cannot differ.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session

from engine.automations.kinds.steps.base import Completed, Failed, Outcome, StepConfig, Visit
from engine.automations.somebody import Somebody
from engine.core.db import JsonObject
from engine.delivery.links import Links
from engine.delivery.service import Kept, PreviewedMail

ConfigT = TypeVar("ConfigT", bound=StepConfig)


@dataclass(frozen=True)
class Scene:
    """A visit on the virtual clock.

    automation: public id; step: its key; arrived: when the person came to the step; at: when it
    would be executed, `entry_delay` later. trigger: what started the run; choice: the outcome that
    was chosen for this step, one of `choices`, or None for the likely one. kept: what this trial
    has read already.
    """

    session: Session
    workspace_id: int
    automation: str
    step: str
    arrived: datetime
    at: datetime
    who: Somebody
    trigger: Mapping[str, Any]
    choice: str | None
    links: Links
    kept: Kept

    def visit(self, config: ConfigT) -> Visit[ConfigT]:
        """Return the visit as the kind itself would get it; its rows are nobody's."""
        return Visit(
            id=0,
            workspace_id=self.workspace_id,
            contact_id=0,
            key=f"simulated:{self.step}",
            config=config,
            scheduled_at=self.at,
            trigger=self.trigger,
            person=self.who.public_id,
            automation=self.automation,
            step=self.step,
        )


@dataclass(frozen=True)
class Foreseen:
    """What would become of a visit. result, reason: as a run keeps them; branch: the exit taken.

    who: the person after it, None where nothing changes; until: when the step is left, where that
    is not the scene's `at`: later, or sooner because something came. failed: the run ends here.
    """

    branch: str | None = None
    result: JsonObject | None = None
    who: Somebody | None = None
    mail: PreviewedMail | None = None
    reason: str | None = None
    until: datetime | None = None
    failed: Failed | None = None


class Foresight(ABC, Generic[ConfigT]):
    """Base of the kinds of foresight."""

    def choices(self, config: ConfigT) -> Sequence[str]:  # noqa: ARG002 - a contract
        """Return the outcomes one may choose, the likely one first; none where nothing is open."""
        return ()

    @abstractmethod
    def foresee(self, scene: Scene, config: ConfigT) -> Foreseen:
        """Return what would happen to `scene.who` at the step."""


AnyForesight = Foresight[Any]


def told(outcome: Outcome) -> Foreseen:
    """Return what a kind answered, for kinds that change nobody and send nothing."""
    match outcome:
        case Failed():
            return Foreseen(failed=outcome)
        case Completed():
            result = None if outcome.result is None else dict(outcome.result)
            return Foreseen(outcome.branch, result, reason=outcome.reason)
        case _:
            raise ValueError(f"no kind answers {type(outcome).__name__} here")
