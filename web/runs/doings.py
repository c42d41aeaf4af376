"""What was done to the automation meanwhile, as lines of a run's log."""

from collections.abc import Mapping, Sequence

from flask_babel import gettext as _

from engine.automations.queries import Doing, RunDetail, is_breaker
from web.audit.messages import who
from web.automations import interruptions
from web.runs.log import Entry


def lines(found: Sequence[Doing], names: Mapping[str, str], run: RunDetail) -> list[Entry]:
    """Return pauses, resumes, a Stop, and the move of the run to another revision.

    names: of the actors, by their stored name.
    """
    entries = [_line(doing, _who(doing.actor, names)) for doing in found]
    if run.moved_at is None:
        return entries
    words = _("Moved to revision %(number)s", number=run.run.revision)
    reason = _("It was published, and whoever waited was moved to it.")
    return [*entries, Entry("off", str(words), at=run.moved_at, reason=str(reason))]


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
