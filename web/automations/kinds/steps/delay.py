"""The step `delay` in words."""

from collections.abc import Mapping
from typing import Any, Final

from babel.units import format_unit
from flask_babel import get_locale
from flask_babel import gettext as _

from engine.automations.kinds.steps.delay import DelayConfig
from web.automations.kinds.steps.base import Named, StepWords

_UNITS: Final[Mapping[str, str]] = {
    "minutes": "duration-minute",
    "hours": "duration-hour",
    "days": "duration-day",
    "weeks": "duration-week",
}


class DelayWords(StepWords[DelayConfig]):
    """A wait."""

    shape = "wait"

    def title(self, step: Named[DelayConfig]) -> str:
        """Return, for example, “Wait 3 days”."""
        if step.config.duration is None:
            return str(_("Wait without a length"))
        return str(_("Wait %(span)s", span=span(step.config)))

    def standing(self, count: int) -> str:  # noqa: ARG002 - a contract
        """Return the word for people at this station."""
        return str(_("waiting"))

    def done(self, step: Named[DelayConfig], result: Mapping[str, Any]) -> str:  # noqa: ARG002 - a contract
        """Say how long the wait was."""
        return str(_("Waited %(span)s", span=span(step.config)))

    def foreseen(self, step: Named[DelayConfig], result: Mapping[str, Any]) -> str:  # noqa: ARG002 - a contract
        """Say how long the wait would be."""
        return self.title(step)

    def under_way(self, step: Named[DelayConfig]) -> str:
        """Say how long the wait is."""
        return str(_("Waiting %(span)s", span=span(step.config)))


def span(config: DelayConfig) -> str:
    """Return the length in words; less than a minute in seconds."""
    number = config.duration or 0
    if config.unit == "minutes" and number < 1:
        seconds = format_unit(
            round(number * 60, 1), "duration-second", length="long", locale=get_locale() or "en"
        )
        return str(seconds)
    whole = int(number) if float(number).is_integer() else number
    unit = _UNITS[config.unit or "days"]
    return str(format_unit(whole, unit, length="long", locale=get_locale() or "en"))
