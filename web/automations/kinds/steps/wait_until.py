"""The step `wait_until` in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from babel.dates import get_day_names
from flask_babel import get_locale
from flask_babel import gettext as _

from engine.automations.kinds.steps.delay import DelayConfig
from engine.automations.kinds.steps.wait_until import EVENT, HEARD, WaitUntilConfig
from web.automations.kinds.steps.base import Evidence, Named, StepWords
from web.automations.kinds.steps.delay import span


class WaitUntilWords(StepWords[WaitUntilConfig]):
    """A wait for an event or an hour."""

    shape = "wait"

    def title(self, step: Named[WaitUntilConfig]) -> str:
        """Return, for example, “Wait for the event “paid””."""
        config = step.config
        if config.mode != EVENT:
            return str(_("Wait until %(hours)s", hours=hours(config)))
        if not config.event_name:
            return str(_("Wait for an event (none chosen yet)"))
        return str(_("Wait for the event “%(name)s”", name=config.event_name))

    def note(self, step: Named[WaitUntilConfig]) -> str:
        """Return how long at most, or whose clock counts."""
        config = step.config
        if config.mode != EVENT:
            return str(_("In the time zone of the person."))
        if config.limit_duration is None or config.limit_unit is None:
            return ""
        limit = span(DelayConfig(duration=config.limit_duration, unit=config.limit_unit))
        return str(_("%(span)s at most", span=limit))

    def standing(self, count: int) -> str:  # noqa: ARG002 - a contract
        """Return the word for people at this station."""
        return str(_("waiting"))

    def way_out(self, branch: str) -> str:
        """Return whether the event came."""
        return str(_("in time") if branch == HEARD else _("too late"))

    def done(self, step: Named[WaitUntilConfig], result: Mapping[str, Any]) -> str:
        """Say how the wait ended."""
        name = result.get("event") or ""
        if result.get("branch") == HEARD:
            return str(_("The event “%(name)s” came", name=name))
        if "branch" in result:
            return str(_("The event “%(name)s” did not come in time", name=name))
        return self.title(step)

    def evidence(self, step: Named[WaitUntilConfig], result: Mapping[str, Any]) -> Evidence | None:
        """Return what was waited for, whether it came, and the way taken."""
        if "branch" not in result:
            return None
        way = self.way_out(str(result["branch"]))
        return Evidence(self.title(step), self.done(step, result), way)


def hours(config: WaitUntilConfig) -> str:
    """Return a window in words, for example “Mon–Thu, 10:00–17:00”."""
    days = ", ".join(_days(run) for run in _runs(sorted(set(config.weekdays))))
    if config.opens is None and config.closes is None:
        return days
    return f"{days}, {config.opens or '00:00'}–{config.closes or '24:00'}"


def _runs(days: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for day in days:
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return runs


def _days(run: Sequence[int]) -> str:
    names = get_day_names("abbreviated", "format", get_locale() or "en")
    if len(run) < 3:
        return ", ".join(names[day - 1] for day in run)
    return f"{names[run[0] - 1]}–{names[run[-1] - 1]}"
