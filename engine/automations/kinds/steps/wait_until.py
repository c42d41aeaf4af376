"""Wait for an event, at most so long, or for an hour of the person's own (decision A13).

The event wakes the visit itself (`waking`); a visit outside the hours is put off, and stays one
visit. The limit lies before the step, like a wait's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from pydantic import Field
from sqlalchemy.orm import Session

from engine.automations import local_time
from engine.automations.kinds.steps.base import (
    Completed,
    Deferred,
    Outcome,
    StepConfig,
    StepKind,
    Visit,
)
from engine.automations.kinds.steps.delay import LONGEST, SECONDS
from engine.automations.local_time import Window
from engine.core import clock
from engine.core.outcome import Problem

EVENT: Final = "event"
WINDOW: Final = "window"
HEARD: Final = "heard"
LATE: Final = "late"
Weekday = Annotated[int, Field(ge=1, le=7)]
Clock = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class WaitUntilConfig(StepConfig):
    """mode: what is waited for. Of an event: its name, and limit_duration with limit_unit; heard,
    late: a step key, `end`, or None (next). Of a window: weekdays from 1, Monday; opens, closes:
    local HH:MM, None for midnight."""

    mode: Literal["event", "window"] = "event"
    event_name: Annotated[str, Field(max_length=100)] | None = None
    limit_duration: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    limit_unit: Literal["minutes", "hours", "days", "weeks"] | None = None
    weekdays: list[Weekday] = Field(default_factory=lambda: [1, 2, 3, 4, 5, 6, 7])
    opens: Clock | None = None
    closes: Clock | None = None
    heard: str | None = None
    late: str | None = None

    @property
    def limit(self) -> timedelta | None:
        """Return how long the event is waited for, None while that is not filled in."""
        if self.limit_duration is None or self.limit_unit is None:
            return None
        seconds = self.limit_duration * SECONDS[self.limit_unit]
        return timedelta(seconds=min(seconds, LONGEST.total_seconds()))

    @property
    def window(self) -> Window:
        """Return the hours that are waited for."""
        return Window(frozenset(self.weekdays), _time(self.opens), _time(self.closes))


@dataclass(frozen=True)
class WaitFacts:
    """When the step is executed, and the person's own zone."""

    at: datetime
    zone: ZoneInfo


class WaitUntilStep(StepKind[WaitUntilConfig, WaitFacts]):
    """The wait for something."""

    Config = WaitUntilConfig

    def branches(self, config: WaitUntilConfig) -> Mapping[str, str | None]:
        """Return both exits of a wait for an event; a window has one way on."""
        return {HEARD: config.heard, LATE: config.late} if config.mode == EVENT else {}

    def problems(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, WaitUntilConfig],
    ) -> list[Problem]:
        """Refuse a wait for nothing, without end, or for hours that never come."""
        return [
            Problem(f"{pointer}/config/{field}", code)
            for pointer, config in configs.items()
            for field, code in (_of_event(config) if config.mode == EVENT else _of_window(config))
        ]

    def entry_delay(self, config: WaitUntilConfig) -> timedelta:
        """Return the limit; an incomplete one cannot have been activated."""
        if config.mode == WINDOW:
            return timedelta(0)
        if config.limit is None:
            raise ValueError("wait_until step: a wait for an event needs a limit")
        return config.limit

    def awaits(self, config: WaitUntilConfig) -> str | None:
        """Return the name of the event."""
        return config.event_name if config.mode == EVENT else None

    def load(
        self, session: Session, visits: Sequence[Visit[WaitUntilConfig]]
    ) -> Mapping[int, WaitFacts | None]:
        """Load the zones of those who wait for an hour, in two statements."""
        timed = [visit for visit in visits if visit.config.mode == WINDOW]
        if not timed:
            return {}
        people = {(visit.workspace_id, visit.contact_id) for visit in timed}
        zones, at = local_time.zones(session, people), clock.now()
        return {visit.id: WaitFacts(at, zones[visit.contact_id]) for visit in timed}

    def run(
        self,
        visits: Sequence[Visit[WaitUntilConfig]],
        facts: Mapping[int, WaitFacts | None],
    ) -> Mapping[int, Outcome]:
        """Say by which exit the wait ends, or until when it goes on."""
        return {visit.id: _decide(visit, facts.get(visit.id)) for visit in visits}


def _decide(visit: Visit[WaitUntilConfig], facts: WaitFacts | None) -> Outcome:
    if facts is None:
        name = visit.config.event_name
        if visit.heard is None:
            return Completed(branch=LATE, result={"event": name, "branch": LATE})
        told = {"event": name, "id": visit.heard.get("event"), "branch": HEARD}
        return Completed(branch=HEARD, result=told)
    until = local_time.opening(visit.config.window, facts.at, facts.zone)
    result = {"zone": facts.zone.key}
    return Completed(result=result) if until <= facts.at else Deferred(until, result)


def _of_event(config: WaitUntilConfig) -> list[tuple[str, str]]:
    found = [] if config.event_name else [("event_name", "event_missing")]
    if config.limit_duration is None or config.limit_unit is None:
        found.append(("limit_duration", "limit_missing"))
    elif config.limit_duration * SECONDS[config.limit_unit] > LONGEST.total_seconds():
        found.append(("limit_duration", "delay_too_long"))
    return found


def _of_window(config: WaitUntilConfig) -> list[tuple[str, str]]:
    found = [] if config.weekdays else [("weekdays", "weekdays_missing")]
    if config.closes is not None and config.closes <= (config.opens or "00:00"):
        found.append(("closes", "window_closed"))
    return found


def _time(text: str | None) -> time | None:
    return None if text is None else time.fromisoformat(text)
