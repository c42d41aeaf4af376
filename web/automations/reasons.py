"""Why, or why not, in words: the answer, each check, what was refused at the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString
from markupsafe import Markup, escape

from engine.automations.queries import entry_checks
from engine.automations.queries.entry_checks import Check
from engine.automations.queries.explaining import INSIDE, Explanation
from web.filters import NOTHING, when

Params = Mapping[str, str | int]
# The answer as a sentence.
ANSWERS: Final[Mapping[str, LazyString]] = {
    "inside": _("This person is inside now."),
    "entered": _("This person entered, and the run has ended."),
    "deleted": _("The automation was deleted, so nobody enters any more."),
    "draft": _("The automation is a draft: nobody enters until it is activated."),
    "paused": _("The automation is paused: nobody new enters until it is resumed."),
    "not_active": _("When it happened, the automation was paused."),
    "incomplete": _("The trigger lacks what it needs to ever match."),
    "unreadable": _("This version cannot read the automation."),
    "no_steps": _("The automation had no steps."),
    "no_event": _("Nothing of the kind that starts the automation has happened to this person."),
    "not_matching": _("Such a thing has happened, but not the one that the trigger waits for."),
    "before_activation": _(
        "It happened before the automation was activated or last resumed, and what lies before "
        "starts nothing."
    ),
    "already_inside": _("The person was inside already, and nobody is inside twice."),
    "entered_before": _("The person had entered before, and the automation lets people in once."),
    "entered_lately": _(
        "The person had entered too recently: the automation lets people in once in %(days)s days."
    ),
    "not_recorded": _(
        "Nothing speaks against it now, and nothing was recorded: it may have come by an import "
        "that starts nothing, or lie too long ago."
    ),
}
# What a check is called.
NAMES: Final[Mapping[str, LazyString]] = {
    "active": _("The automation is active"),
    "event": _("It happened to the person"),
    "matching": _("It is what the trigger waits for"),
    "activation": _("It happened after the activation, or the last resume"),
    "inside": _("The person is not inside already"),
    "reentry": _("The person may enter again"),
    "fired": _("The day has come"),
    "mail": _("Mail reaches the person"),
}
# What a check found; those left out say nothing beyond their name and their signal.
FOUND: Final[Mapping[str, LazyString]] = {
    "deleted": _("Deleted %(at)s."),
    "draft": _("It is a draft."),
    "paused": _("Paused since %(at)s."),
    "event": _("Last %(at)s."),
    "no_event": _("Nothing of the kind is known."),
    "not_matching": _("The last of the kind was “%(name)s”, %(at)s."),
    "incomplete": _("The trigger is not complete."),
    "unreadable": _("This version cannot read the trigger."),
    "before_activation": _("It happened %(at)s; active since %(activated)s."),
    "already_inside": _("A run is under way."),
    "unlimited": _("Re-entry is not limited."),
    "never_entered": _("Never entered before."),
    "entered_before": _("Entered %(at)s; once is the limit."),
    "entered_lately": _("Entered %(at)s; at most once in %(days)s days."),
    "long_ago": _("Entered %(at)s, more than %(days)s days ago."),
    "fired": _("It came %(at)s in this activation."),
    "not_fired": _("It has not come since the activation."),
    "no_address": _("No address: mails to this person fail."),
    "suppressed": _("The address is on the suppression list: mails are withheld."),
    "unsubscribed": _("Unsubscribed %(at)s: marketing mail is withheld."),
}
_TONES: Final = {
    entry_checks.PASSES: "go",
    entry_checks.BARS: "stop",
    entry_checks.INFORMS: "hold",
}
_VERDICTS: Final[Mapping[str, LazyString]] = {
    entry_checks.PASSES: _("yes"),
    entry_checks.BARS: _("no"),
    entry_checks.INFORMS: _("note"),
}
_INSTANTS: Final = ("at", "activated")


@dataclass(frozen=True)
class Line:
    """A check in words."""

    name: str
    tone: str
    verdict: str
    found: Markup


@dataclass(frozen=True)
class Decision:
    """A recorded refusal in words."""

    words: str
    version: int
    at: datetime


def answer(found: Explanation) -> str:
    """Return the answer as a sentence."""
    return _sentence(found.answer, found.params)


def tone(found: Explanation) -> str:
    """Return the signal of the answer."""
    if found.answer == INSIDE:
        return "go"
    return "off" if found.answer == "entered" else "stop" if found.recorded else "hold"


def checks(found: Explanation) -> Sequence[Line]:
    """Return the checks in the order in which they are asked."""
    return [_line(each) for each in found.checks]


def decisions(found: Explanation) -> Sequence[Decision]:
    """Return what was refused, the newest first."""
    return [
        Decision(_sentence(each.reason, each.told), each.version, each.decided_at)
        for each in found.decisions
    ]


def _line(check: Check) -> Line:
    words = FOUND.get(check.code)
    return Line(
        str(NAMES.get(check.name, check.name)),
        _TONES[check.verdict],
        str(_VERDICTS[check.verdict]),
        Markup("") if words is None else _filled(words, check.params),
    )


def _filled(words: LazyString, params: Params) -> Markup:
    """Return the sentence with its instants as times."""
    shown: dict[str, object] = {"at": NOTHING, **params}
    for key in _INSTANTS:
        if key in params:
            shown[key] = when(datetime.fromisoformat(str(params[key])))
    return escape(str(words)) % shown


def _sentence(code: str, params: Params) -> str:
    words = ANSWERS.get(code)
    return code.replace("_", " ") if words is None else str(words) % {"days": "", **params}
