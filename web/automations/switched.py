"""What a switch did, in words, and who was there before whoever pressed too late."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext, ngettext
from flask_babel.speaklater import LazyString
from markupsafe import escape
from sqlalchemy.orm import Session

from engine.accounts import trail
from engine.automations.queries.switches import last_switch
from engine.automations.service import StatusChange
from engine.core.outcome import Recorded
from web.audit.messages import who
from web.automations import messages
from web.filters import number, when

_DID: Final[Mapping[str, LazyString]] = {
    "automation.activated": lazy_gettext("%(who)s activated it (%(when)s)."),
    "automation.paused": lazy_gettext("%(who)s paused it (%(when)s)."),
    "automation.published": lazy_gettext("%(who)s published it (%(when)s)."),
    "automation.resumed": lazy_gettext("%(who)s resumed it (%(when)s)."),
    "automation.reverted_to_draft": lazy_gettext("%(who)s made it a draft again (%(when)s)."),
    "automation.stopped": lazy_gettext("%(who)s stopped it (%(when)s)."),
}


def last(session: Session, workspace_id: int, public_id: str) -> str:
    """Return who switched the automation last, how and when; '' where nobody did."""
    found = last_switch(session, workspace_id, public_id)
    if found is None or found.action not in _DID:
        return ""
    name = who(found.actor, trail.names(session, workspace_id, [found.actor]))
    at = escape(when(found.at)).striptags()
    return str(_DID[found.action]) % {"who": name, "when": at}


def done(change: StatusChange, name: str, *, stop: bool) -> tuple[str, bool]:
    """Return what a switch did, and whether it did anything. stop: everybody inside was ended."""
    outcome = change.outcome
    if stop and change.cancelled:
        return left(_("Stopped: “%(name)s”. Nobody new enters.", name=name), change.cancelled), True
    if isinstance(outcome, Recorded):
        return messages.already(outcome.status, name), False
    return messages.done(outcome.before, outcome.after, change.told, name), True


def left(first: str, people: int) -> str:
    """Return a sentence, and behind it how many people left an automation that has ended them."""
    if not people:
        return first
    gone = ngettext(
        "%(shown)s person left it.", "%(shown)s people left it.", people, shown=number(people)
    )
    return f"{first} {gone}"
