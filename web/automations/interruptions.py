"""A pause and a resume in words: what became of the people inside (decision A11).

Reads what the audit line keeps, so that the line above the page and the log of a run say the same.
"""

from collections.abc import Mapping

from flask_babel import gettext as _
from flask_babel import ngettext

from engine.automations.holding import OVERDUE, SHIFT, SKIP
from engine.automations.models import HOLD
from engine.core.audit import Scalar
from web.filters import duration, number

Details = Mapping[str, Scalar]


def paused(details: Details) -> str:
    """Return who is inside a pause and what becomes of them; details: of `automation.paused`."""
    inside = _count(details, "inside")
    if "inside" in details and not inside:
        return str(_("Nobody is inside."))
    return f"{_inside(inside)} {rule(details)}" if inside else rule(details)


def rule(details: Details) -> str:
    """Return what a pause does with whoever becomes due; '' for one of an earlier version."""
    kept = details.get("on_pause")
    if kept is None:
        return ""
    held = _("Whoever becomes due is held.")
    return str(held if kept == HOLD else _("Whoever becomes due leaves."))


def resumed(details: Details) -> str:
    """Return how people went on; details: of `automation.resumed`."""
    inside = _count(details, "inside")
    if not inside:
        return str(_("Nobody was inside.")) if "inside" in details else ""
    return choice(details) or _inside(inside)


def choice(details: Details) -> str:
    """Return what was chosen for people who were held; '' where nobody was asked."""
    chosen = details.get("resume")
    if chosen == SHIFT:
        span = duration(float(_count(details, "paused_seconds")))
        return str(_("Waits were shifted by %(span)s.", span=span))
    if chosen not in (OVERDUE, SKIP):
        return ""
    return _chosen(str(chosen), _count(details, "overdue"))


def _chosen(choice: str, overdue: int) -> str:
    shown = number(overdue)
    if not overdue:
        return str(_("Nobody was overdue."))
    if choice == SKIP:
        skips = ngettext(
            "%(shown)s overdue person skips to the next wait.",
            "%(shown)s overdue people skip to their next wait.",
            overdue,
            shown=shown,
        )
        return str(skips)
    goes_on = ngettext(
        "%(shown)s overdue person goes on at once.",
        "%(shown)s overdue people go on, at most 60 a minute.",
        overdue,
        shown=shown,
    )
    return str(goes_on)


def _inside(inside: int) -> str:
    words = ngettext(
        "%(shown)s person is inside.", "%(shown)s people are inside.", inside, shown=number(inside)
    )
    return str(words)


def _count(details: Details, name: str) -> int:
    value = details.get(name)
    return int(value) if isinstance(value, int) else 0
