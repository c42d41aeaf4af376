"""The words of the audit log: what was done, and who the system is when nobody did it."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

# action as it is stored → what was done
ACTIONS: Final[Mapping[str, LazyString]] = {
    "api_key.created": _("Created an API key"),
    "api_key.revoked": _("Revoked an API key"),
    "user.added": _("Added a person to the workspace"),
    "user.password_changed": _("Changed a password"),
    "user.role_changed": _("Changed a role"),
    "user.sessions_revoked": _("Ended all sessions of a person"),
    "user.sign_in_locked": _("Locked sign-in after too many tries"),
    "workspace.created": _("Created the workspace"),
}


def done(action: str) -> str:
    """Return what was done, in words; an action of a later version keeps its stored name."""
    return str(ACTIONS.get(action, action))


def who(actor: str, names: Mapping[str, str]) -> str:
    """Return the actor in words: a person, an API key, or the system with what it did it for."""
    kind, _separator, what = actor.partition(":")
    if kind == "system":
        return str(gettext("The system (%(what)s)", what=what))
    if actor not in names:
        return str(gettext("Somebody who was removed"))
    if kind == "key":
        return str(gettext("API key %(name)s", name=names[actor]))
    return names[actor]
