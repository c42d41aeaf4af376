"""The words of mails: what became of one, why it failed, refusals of delivery."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.delivery.composing import RECIPIENT_SUPPRESSED, UNSUBSCRIBED_TEXT
from engine.delivery.models import FAILED, QUEUED, SENT
from engine.delivery.queries import SendRow

KEPT: Final = "kept"
UNKNOWN: Final = "unknown"
OUTCOME_UNKNOWN: Final = "OUTCOME_UNKNOWN"

# error_code → what went wrong.
ERRORS: Final[Mapping[str, LazyString]] = {
    OUTCOME_UNKNOWN: _("Nobody knows whether it arrived; it is not sent again by itself."),
    "RATE_LIMIT": _("The other server asked to slow down."),
    "SERVER_ERROR": _("The other server could not take it at that time."),
    "CONNECTION_LOST": _("The connection was lost before the mail was handed over."),
    "INVALID_RECIPIENT": _("The other server refused the recipient."),
    "INVALID_SENDER": _("The other server refused the sender."),
    "CONTENT_REJECTED": _("The other server refused the content."),
    "AUTH_FAILED": _("Signing in at the mail server failed."),
    "SMTPUTF8_UNSUPPORTED": _("The mail server takes no addresses with such characters."),
    "TLS_FAILED": _("A secure connection to the mail server was not possible."),
    "OUTBOX_UNWRITABLE": _("The outbox of this installation cannot be written."),
    "UNKNOWN": _("The other server refused it."),
    "CONTACT_REMOVED": _("The person was deleted before the mail was made."),
    RECIPIENT_SUPPRESSED: _("The address was blocked before the mail left."),
    "DATABASE_AWAY": _("The database was away while the mail was handed over."),
    "LEASE_LOST": _("The worker was lost before the mail was handed over, four times."),
    "NO_TEMPLATE": _("The template no longer exists."),
    "TEMPLATE_BROKEN": _("The template could not be filled in."),
}
# What became of a mail, by the status that pages show.
BECAME: Final[Mapping[str, LazyString]] = {
    "queued": _("Waits to be handed over"),
    "sent": _("Accepted by the mail server"),
    KEPT: _("Kept in the outbox here; it did not leave"),
    "delivered": _("Delivered"),
    "opened": _("Opened"),
    "clicked": _("Clicked"),
    "bounced": _("Bounced"),
    "complained": _("Reported as unwanted"),
    UNKNOWN: _("Outcome unknown: the connection was lost after it was handed over"),
}
ORIGINS: Final[Mapping[str, LazyString]] = {
    "automation": _("Automation"),
    "campaign": _("Campaign"),
    "transactional": _("Transactional mail"),
    "agent": _("Answer of the agent"),
    "test": _("Test mail"),
}


def status(send: SendRow) -> str:
    """Return the status as pages show it: what was kept did not leave, an unknown end is no no."""
    if send.status == SENT and send.kept:
        return KEPT
    if send.status == FAILED and send.error_code == OUTCOME_UNKNOWN:
        return UNKNOWN
    return send.status


def failed(code: str | None, message: str | None) -> str:
    """Return what went wrong; '' where nothing did. message: the stored English text."""
    if code == RECIPIENT_SUPPRESSED and message == UNSUBSCRIBED_TEXT:
        return str(gettext("The person unsubscribed before the mail left."))
    return str(ERRORS.get(code) or message or code) if code else ""


def became(send: SendRow) -> str:
    """Return what became of a mail, with the reason where it failed or is tried again."""
    shown = status(send)
    why = failed(send.error_code, send.error_message)
    if shown == FAILED:
        return str(gettext("Not delivered: %(why)s", why=why))
    if shown == QUEUED and why:
        return str(gettext("Is tried again: %(why)s", why=why))
    return str(BECAME.get(shown, shown))


def origin(send: SendRow, automation: str | None) -> str:
    """Return where a mail came from; automation: the name of the one that sent it."""
    if automation is not None:
        return str(gettext("Automation “%(name)s”", name=automation))
    return str(ORIGINS.get(send.kind, send.kind))
