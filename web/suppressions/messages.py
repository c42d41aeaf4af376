"""The words of the suppression list: why an address stands in it, and what that stops."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.audience.models import BOUNCED, COMPLAINED, MANUAL, UNENGAGED

# reason → why
REASONS: Final[Mapping[str, LazyString]] = {
    BOUNCED: _("Mail came back"),
    COMPLAINED: _("Reported as unwanted"),
    MANUAL: _("Blocked by hand"),
    UNENGAGED: _("Reads nothing any more"),
}


def reason(code: str) -> str:
    """Return why an address is blocked; a reason of a later version keeps its stored name."""
    return str(REASONS.get(code, code))


def stops(code: str) -> str:
    """Return which mail a block of this reason stops (facts 3.6)."""
    return str(_("marketing mail")) if code == UNENGAGED else str(_("every mail"))
