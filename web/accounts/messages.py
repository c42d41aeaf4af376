"""The words of accounts' refusals and of the scopes of keys, as people read them."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

WORDS: Final[Mapping[str, LazyString]] = {
    "already_member": _("This person is a member of the workspace already."),
    "api_key_not_found": _("There is no such API key in this workspace."),
    "bad_credentials": _("This address and this password do not belong together."),
    "bad_email": _("This is no e-mail address."),
    "idempotency_key_invalid": _("An Idempotency-Key has 1 to 255 printable ASCII characters."),
    "idempotency_mismatch": _("This Idempotency-Key was used with another request."),
    "idempotency_unanswered": _("The first request with this Idempotency-Key left no answer."),
    "key_taken": _("This key is in use already. Choose another one."),
    "last_owner": _("A workspace needs an owner. Make somebody else the owner first."),
    "name_invalid": _("The name holds characters that cannot be kept."),
    "name_missing": _("Give it a name."),
    "name_too_long": _("The name may have at most %(longest)s characters."),
    "password_missing": _("Enter a password."),
    "password_too_long": _("The password may have at most %(longest)s characters."),
    "password_too_short": _("The password needs at least %(shortest)s characters."),
    "scopes_missing": _("Choose at least one scope."),
    "too_many_tries": _("Too many tries. Try again in %(retry_after)s seconds."),
    "unknown_role": _("There is no role %(role)s."),
    "unknown_scope": _("There is no scope %(scope)s."),
    "user_not_found": _("There is no such person in this workspace."),
    "weak_key": _("A key has %(shortest)s to %(longest)s printable characters."),
}

# What a scope lets a program do, beside its name on the page of keys.
SCOPES: Final[Mapping[str, LazyString]] = {
    "full": _("everything, in every area"),
    "approvals:act": _("grant and deny what others asked for"),
    "approvals:manage": _("ask for an activation or a publish"),
    "approvals:read": _("read requests and what was decided"),
    "automations:manage": _("create, change, duplicate and delete automations"),
    "automations:publish": _("activate, pause, stop and publish automations"),
    "automations:read": _("read automations, their revisions and figures"),
    "contacts:manage": _("create, change, delete and suppress people"),
    "contacts:read": _("read people, what happened to them, and the suppression list"),
    "events:write": _("report events"),
    "properties:manage": _("define properties of people"),
    "properties:read": _("read which properties there are"),
    "runs:act": _("cancel, retry and move runs"),
    "runs:read": _("read runs and their logs"),
    "senders:manage": _("change senders and sending domains"),
    "senders:read": _("read senders and sending domains"),
    "sends:act": _("decide about mails whose outcome is unknown"),
    "sends:read": _("read mails as they were sent"),
    "templates:manage": _("create, change and delete templates"),
    "templates:read": _("read and preview templates"),
    "topics:manage": _("change topics and who is in them"),
    "topics:read": _("read topics and who is in them"),
    "workspace:manage": _("change the settings of the workspace"),
    "workspace:read": _("read the settings of the workspace"),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of accounts, or for one of its problems."""
    reason = refused.reason if isinstance(refused, Refused) else refused.code
    return str(WORDS[reason]) % dict(refused.params)
