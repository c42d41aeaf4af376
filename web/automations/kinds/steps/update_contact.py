"""The step `update_contact` in words."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from flask_babel import format_datetime, get_timezone, lazy_gettext
from flask_babel import gettext as _
from flask_babel.speaklater import LazyString

from engine.automations.kinds.steps.update_contact import UpdateContactConfig
from web.automations.kinds.steps.base import Named, StepWords

_FIELDS: Final[Mapping[str, LazyString]] = {
    "first_name": lazy_gettext("First name"),
    "last_name": lazy_gettext("Last name"),
    "language": lazy_gettext("Language"),
    "timezone": lazy_gettext("Time zone"),
}
# A value may be a whole letter; a line of the plan or of a log is short.
_LONGEST: Final = 80


class UpdateContactWords(StepWords[UpdateContactConfig]):
    """A change of the person."""

    def title(self, step: Named[UpdateContactConfig]) -> str:
        """Return, for example, “Set plan to “pro””; of several changes only their names."""
        changes, stamps = step.config.changes, step.config.stamps
        if not changes and not stamps:
            return str(_("Change of the person (none chosen yet)"))
        if len(changes) + len(stamps) > 1:
            names = ", ".join(_name(key) for key in sorted([*changes, *stamps]))
            return str(_("Change %(names)s", names=_short(names)))
        if stamps:
            return str(_("Set %(name)s to the moment of the step", name=stamps[0]))
        [(key, value)] = changes.items()
        if value is None:
            return str(_("Clear %(name)s", name=_name(key)))
        return str(_("Set %(name)s to “%(value)s”", name=_name(key), value=_value(value)))

    def note(self, step: Named[UpdateContactConfig]) -> str:
        """Return the values of several changes."""
        changes, stamps = step.config.changes, step.config.stamps
        if len(changes) + len(stamps) < 2:
            return ""
        told = {
            key: str(_("no value")) if value is None else _value(value)
            for key, value in changes.items()
        }
        told |= {key: str(_("the moment of the step")) for key in stamps}
        return " · ".join(f"{_name(key)}: {words}" for key, words in sorted(told.items()))

    def done(self, step: Named[UpdateContactConfig], result: Mapping[str, Any]) -> str:
        """Say what really changed, from what to what."""
        changes: Sequence[Mapping[str, Any]] | None = result.get("changes")
        if changes is None:
            return self.title(step)
        if not changes:
            return str(_("%(step)s: it was so already", step=self.title(step)))
        stamps = step.config.stamps
        return " · ".join(
            f"{_name(key)}: {_told(each['before'], key in stamps)}"
            f" → {_told(each['after'], key in stamps)}"
            for each in changes
            for key in [str(each["key"])]
        )


def _name(key: str) -> str:
    return str(_FIELDS.get(key, key))


def _told(value: object, stamp: bool) -> str:
    if value is None:
        return str(_("no value"))
    return (_moment(value) if stamp else "") or f"“{_value(value)}”"


def _moment(value: object) -> str:
    """Return a stored instant in the workspace's zone; '' for what is none (any more)."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return ""
    if at.tzinfo is None:
        return ""
    name = at.astimezone(get_timezone()).tzname()
    return f"{format_datetime(at, 'medium')} {name}"


def _value(value: object) -> str:
    """Return a value as the API shows it, cut where it is long."""
    return _short(("true" if value else "false") if isinstance(value, bool) else str(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
