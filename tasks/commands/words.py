"""What the command line says about a refusal: one sentence with the remedy, in plain English."""

from collections.abc import Mapping
from typing import Final

from engine.core.outcome import Refused

WORDS: Final[Mapping[str, str]] = {
    "already_member": "This person is a member already; see `stellwerk user list`.",
    "api_key_not_found": "There is no API key with this id here; see `stellwerk apikey list`.",
    "automation_not_found": "There is no such automation; its id stands in its page's address.",
    "contact_not_found": "There is no such person in the workspace of this automation.",
    "domain_invalid": "The part after @ is no domain; give an address such as you@shop.example.",
    "bad_email": "This is no e-mail address; give one such as you@shop.example.",
    "email_invalid": "This address cannot send mail; give one such as you@shop.example.",
    "demo_loaded": "The sample content is in this workspace already.",
    "key_taken": "This API key is in use, or was revoked; choose another value.",
    "last_owner": "This is the only owner; make somebody else an owner first.",
    "mail_server_unreachable": "{reply} ({code}); check STELLWERK_SMTP_URL",
    "name_invalid": "The name holds a line break or another control character; leave it out.",
    "name_missing": "The name is empty; give one with at least one letter.",
    "name_too_long": "The name is too long; the limit is {longest} characters.",
    "outbox_unwritable": "The outbox in HOME cannot be written ({reason}); check its owner",
    "password_missing": "The password is empty; put it as one line on stdin.",
    "password_too_long": "The password is too long; the limit is {longest} characters.",
    "password_too_short": "The password is too short; it needs at least {shortest} characters.",
    "scopes_missing": "The key needs a scope; give --scope, for example --scope events:write.",
    "unknown_role": "There is no role {role}; the roles are owner, admin, editor and support.",
    "unknown_scope": "There is no scope {scope}; see `stellwerk apikey create --help`.",
    "user_not_found": "There is no such user here; see `stellwerk user list`.",
    "weak_key": (
        "The API key must have {shortest} to {longest} printable ASCII characters and must not "
        "begin or end with a space."
    ),
}


def sentence(refused: Refused) -> str:
    """Return the words for a refusal; one that is new says its reason."""
    words = WORDS.get(refused.reason)
    return words.format(**refused.params) if words else f"Refused: {refused.reason}."
