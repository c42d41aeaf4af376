"""The words of requests: what is refused, what became of one, as people read it."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext, ngettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.automations.service import Published, StatusChange
from engine.core.outcome import Problem, Refused
from web.automations import messages, switched
from web.filters import number

# by, at: an actor and an instant as they are stored; pages say both in words.
WORDS: Final[Mapping[str, LazyString]] = {
    "already_asked": _("This was asked for already (%(by)s, %(at)s) and waits for a decision."),
    "approval_not_found": _("There is no such request."),
    "decided_already": _("This was decided already (%(by)s, %(at)s). Nothing was changed."),
    "draft_changed": _(
        "Nothing was done: the draft was changed since this was asked for, and only what was asked "
        "for can be granted. Have it asked for anew, or do it yourself."
    ),
    "not_your_request": _("Only whoever asked can take a request back."),
    "nothing_to_choose": _("Only a publish asks what becomes of the people inside."),
    "nothing_to_publish": _(
        "The draft says what is in force already. There is nothing to publish."
    ),
    "unknown_request": _("There is no such request."),
    "words_invalid": _("The text holds characters that cannot be kept."),
    "words_too_long": _("The text may have at most %(longest)s characters."),
}
# What somebody reads who comes too late, by what the request is by now.
_DECIDED: Final[Mapping[str, LazyString]] = {
    "granted": _("%(who)s has granted this already (%(when)s). Nothing was done a second time."),
    "denied": _("%(who)s has denied this already (%(when)s). Nothing was changed."),
    "withdrawn": _("This request is over already (%(who)s, %(when)s). Nothing was changed."),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of requests, or of the deed that was asked for."""
    reason = refused.reason if isinstance(refused, Refused) else refused.code
    if reason in WORDS:
        params = {**_of_first(refused), **refused.params}
        return str(WORDS[reason]) % params
    if isinstance(refused, Problem):
        return messages.problem(refused)
    for problem in refused.problems:
        if problem.code == reason and reason in messages.PROBLEMS:
            # It is about this one value and nothing else.
            return messages.problem(problem)
    return messages.reason(refused)


def _of_first(refused: Refused | Problem) -> Mapping[str, str | int]:
    """Return what the first problem says, for a refusal that is about one value."""
    found = refused.problems if isinstance(refused, Refused) else ()
    return found[0].params if found else {}


def kept_waiting(refused: Refused) -> str:
    """Return why a grant did not happen; the request is still there."""
    sentence = words(refused)
    if refused.reason in WORDS:
        return sentence
    waits = gettext("Nothing was done, and the request still waits.")
    return f"{sentence} {waits}"


def decided(status: str, who: str, when: str) -> str:
    """Return who was faster; status: what a request is by now."""
    return str(_DECIDED[status]) % {"who": who, "when": when}


def granted(deed: StatusChange | Published, name: str) -> str:
    """Return what a grant did, in the words of the deed itself."""
    first = gettext("Granted.")
    if isinstance(deed, Published):
        return f"{first} {messages.published(deed, name)}"
    return f"{first} {switched.done(deed, name, stop=False)[0]}"


def waiting(count: int) -> str:
    """Return how many requests wait for a decision."""
    if not count:
        return str(gettext("No request waits for a decision."))
    return str(
        ngettext(
            "%(shown)s request waits for a decision.",
            "%(shown)s requests wait for a decision.",
            count,
            shown=number(count),
        )
    )
