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
    "approval.asked": _("Asked for approval"),
    "approval.denied": _("Denied a request"),
    "approval.granted": _("Granted a request"),
    "approval.withdrawn": _("Took back a request, or ended it without a decision"),
    "automation.activated": _("Activated an automation"),
    "automation.created": _("Created an automation"),
    "automation.deleted": _("Deleted an automation"),
    "automation.paused": _("Paused an automation"),
    "automation.published": _("Published an automation"),
    "automation.resumed": _("Resumed an automation"),
    "automation.reverted_to_draft": _("Made an automation a draft again"),
    "automation.stopped": _("Stopped an automation and ended everybody inside"),
    "automation.updated": _("Changed the draft of an automation"),
    "blocklist.added": _("Blocked an address"),
    "blocklist.removed": _("Took an address off the suppression list"),
    "contact.deleted": _("Deleted a person"),
    "demo.loaded": _("Loaded the sample data"),
    "demo.removed": _("Removed the sample data"),
    "event.fired": _("Had an event happen to a person"),
    "outbound_secret.created": _("Stored a secret"),
    "outbound_secret.deleted": _("Deleted a secret"),
    "property.created": _("Defined a property"),
    "property.deleted": _("Deleted a property"),
    "property.updated": _("Changed a property"),
    "run.cancelled": _("Ended a run"),
    "run.dismissed": _("Took a failed run off the list of what needs attention"),
    "run.moved": _("Moved a run to another step"),
    "run.retried": _("Had a run try its step again"),
    "run.skipped": _("Had a run skip a step"),
    "run_job.asked": _("Asked for an act on many runs"),
    "run_job.stopped": _("Stopped an act on many runs"),
    "sender.created": _("Created a sender"),
    "sender.deleted": _("Deleted a sender"),
    "sender.made_default": _("Made a sender the default"),
    "sender.updated": _("Changed a sender"),
    "sending_domain.attested": _("Vouched for a sending domain"),
    "sending_domain.deleted": _("Deleted a sending domain"),
    "template.created": _("Created a template"),
    "template.deleted": _("Deleted a template"),
    "template.tested": _("Sent a test mail of a template"),
    "template.updated": _("Changed a template"),
    "topic.created": _("Created a topic"),
    "topic.deleted": _("Deleted a topic"),
    "topic.updated": _("Changed a topic"),
    "user.added": _("Added a person to the workspace"),
    "user.password_changed": _("Changed a password"),
    "user.role_changed": _("Changed a role"),
    "user.sessions_revoked": _("Ended all sessions of a person"),
    "user.sign_in_locked": _("Locked sign-in after too many tries"),
    "workspace.created": _("Created the workspace"),
    "workspace.resumed": _("Let a suspended workspace go on"),
    "workspace.suspended": _("Suspended the workspace"),
    "workspace.updated": _("Changed the settings of the workspace"),
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
