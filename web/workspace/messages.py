"""The words of the workspace's settings: what is wrong with a limit."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

WORDS: Final[Mapping[str, LazyString]] = {
    "invalid_limits": _("The settings cannot be saved; see the list of faults."),
    "not_an_hour": _("This must be a time such as 22:00."),
    "out_of_range": _("This must lie between %(lowest)s and %(highest)s."),
    "quiet_hours_empty": _("Quiet hours must begin and end at different times."),
    "quiet_hours_incomplete": _("Quiet hours need a beginning and an end, or neither."),
    "unknown_language": _("This language is not spoken here."),
    "unknown_timezone": _("This is no time zone, such as Europe/Berlin."),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of the settings, or for one of its problems."""
    reason = refused.reason if isinstance(refused, Refused) else refused.code
    return str(WORDS[reason]) % dict(refused.params)
