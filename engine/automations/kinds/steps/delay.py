"""Wait some time. The wait lies before the step: executing it is a no-op (facts 1.11)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit
from engine.core.outcome import Problem

# 4 weeks are 28 days exactly: no calendar arithmetic (facts 1.11).
SECONDS: Final[Mapping[str, int]] = {
    "minutes": 60,
    "hours": 3_600,
    "days": 86_400,
    "weeks": 604_800,
}
# Ten years; beyond it a due time says nothing useful and would leave the calendar.
LONGEST: Final = timedelta(days=3_650)


class DelayConfig(StepConfig):
    """duration: a positive number, fractions allowed; unit: minutes, hours, days or weeks."""

    duration: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    unit: Literal["minutes", "hours", "days", "weeks"] | None = None


class DelayStep(StepKind[DelayConfig, None]):
    """The delay step."""

    Config = DelayConfig

    def problems(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, DelayConfig],
    ) -> list[Problem]:
        """Refuse a wait without length or longer than ten years."""
        found = []
        for pointer, config in configs.items():
            if config.duration is None or config.unit is None:
                found.append(Problem(f"{pointer}/config/duration", "delay_without_duration"))
            elif config.duration * SECONDS[config.unit] > LONGEST.total_seconds():
                found.append(Problem(f"{pointer}/config/duration", "delay_too_long"))
        return found

    def entry_delay(self, config: DelayConfig) -> timedelta:
        """Return the wait; an incomplete or endless one cannot have been activated."""
        if config.duration is None or config.unit is None:
            raise ValueError("delay step: duration must be a positive number")
        return min(timedelta(seconds=config.duration * SECONDS[config.unit]), LONGEST)

    def run(
        self,
        visits: Sequence[Visit[DelayConfig]],
        facts: Mapping[int, None],  # noqa: ARG002 - a contract
    ) -> Mapping[int, Outcome]:
        """Complete: the wait has already passed."""
        return {visit.id: Completed() for visit in visits}
