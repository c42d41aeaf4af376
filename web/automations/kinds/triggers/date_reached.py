"""The trigger `date_reached` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _
from flask_babel import ngettext

from engine.automations.kinds.triggers.date_reached import DateReachedConfig
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.triggers.base import TriggerWords


class DateReachedWords(TriggerWords[DateReachedConfig]):
    """A date that comes."""

    def title(self, config: DateReachedConfig, topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which date, and when."""
        if not config.property_key:
            return str(_("A date is reached (none chosen yet)"))
        told = {"when": _when(config), "time": config.time}
        if config.yearly:
            return str(_("Every year %(when)s at %(time)s", **told))
        return str(_("Once %(when)s at %(time)s", **told))

    def entered(self, data: Mapping[str, Any], topics: Names) -> str:  # noqa: ARG002 - a contract
        """Say which date it was."""
        told = {"key": data.get("property_key", ""), "date": data.get("date") or "?"}
        return str(_("Entered because of the date “%(key)s”, %(date)s", **told))


def _when(config: DateReachedConfig) -> str:
    days, told = config.offset_days, {"key": config.property_key}
    if days == 0:
        return str(_("on “%(key)s”", **told))
    if days < 0:
        return str(
            ngettext("%(num)s day before “%(key)s”", "%(num)s days before “%(key)s”", -days, **told)
        )
    return str(
        ngettext("%(num)s day after “%(key)s”", "%(num)s days after “%(key)s”", days, **told)
    )
