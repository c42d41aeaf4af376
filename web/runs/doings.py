"""What was done meanwhile to the automation and to the run itself, as lines of a run's log."""

from collections.abc import Mapping, Sequence
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_babel.speaklater import LazyString

from engine.automations.act_judging import CANCEL, DISMISS, MOVE, RETRY, SKIP
from engine.automations.queries import Doing, RunDetail, is_breaker
from web.audit.messages import who
from web.automations import interruptions
from web.automations.reading import Told
from web.runs.log import Entry

# An act on the run itself → what was done.
_ACTS: Final[Mapping[str, LazyString]] = {
    RETRY: _l("%(actor)s had the step tried again"),
    SKIP: _l("%(actor)s had the step left out"),
    MOVE: _l("%(actor)s moved the person to: %(step)s"),
    CANCEL: _l("%(actor)s ended the run"),
    DISMISS: _l("%(actor)s took the run off the list of what needs attention"),
}


def lines(found: Sequence[Doing], names: Mapping[str, str], run: RunDetail) -> list[Entry]:
    """Return pauses, resumes, a Stop, and the moves of the run to other revisions.

    names: of the actors, by their stored name.
    """
    entries = [_line(doing, _who(doing.actor, names)) for doing in found]
    reason = _("It was published, and whoever waited was moved to it.")
    for move in run.moves:
        words = _("Moved to revision %(number)s", number=move.number)
        entries.append(Entry("off", str(words), at=move.at, reason=str(reason)))
    return entries


def acts(found: Sequence[Doing], names: Mapping[str, str], told: Told | None) -> list[Entry]:
    """Return what people did to the run itself."""
    steps = {step.key: told.title(step) for step in told.graph.steps} if told else {}
    entries = []
    for doing in found:
        key = str(doing.details.get("to") or "")
        words = str(_ACTS[doing.what]) % {
            "actor": _who(doing.actor, names),
            "step": steps.get(key, key),
        }
        reason = str(doing.details.get("reason") or "")
        entries.append(Entry("off", words, at=doing.at, reason=reason))
    return entries


def _who(actor: str, names: Mapping[str, str]) -> str:
    return str(_("the breaker")) if is_breaker(actor) else who(actor, names)


def _line(doing: Doing, actor: str) -> Entry:
    if doing.what == "resumed":
        words = _("Automation resumed (%(actor)s)", actor=actor)
        reason = interruptions.choice(doing.details)
        return Entry("go", str(words), at=doing.at, reason=reason)
    if doing.what == "paused":
        words = _("Automation paused (%(actor)s)", actor=actor)
        return Entry("hold", str(words), at=doing.at, reason=interruptions.rule(doing.details))
    return Entry("hold", str(_("Automation stopped (%(actor)s)", actor=actor)), at=doing.at)
