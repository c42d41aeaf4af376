"""From a claimed send to its message, or to the reason why there is none."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine.delivery.compose.letter import Unwritable, Written, write
from engine.delivery.compose.render import Flaw, Rendered, render
from engine.delivery.kinds.base import Rejected
from engine.delivery.loading import SendItem

NO_TEMPLATE: Final = "NO_TEMPLATE"
TEMPLATE_BROKEN: Final = "TEMPLATE_BROKEN"
CONTACT_REMOVED: Final = "CONTACT_REMOVED"
RECIPIENT_SUPPRESSED: Final = "RECIPIENT_SUPPRESSED"
# facts 4.15; the second is ours, so that a page can tell an opt-out from a block.
SUPPRESSED_TEXT: Final = "Recipient suppressed (blocklist) before dispatch"
UNSUBSCRIBED_TEXT: Final = "Recipient unsubscribed before dispatch"


@dataclass(frozen=True)
class Composed:
    """A message and what was rendered for it."""

    mail: Rendered
    message: Written


def compose(item: SendItem, at: datetime) -> Composed | Rejected:
    """Return the message of a send as of `at`, or why there is none.

    Who was blocked or opted out while the mail was waiting gets none (facts 4.15).
    """
    barred = _barred(item)
    if barred is not None:
        return barred
    mail: Rendered | Flaw | None = (
        render(item.template, item.data, at, item.subject_override)
        if item.template is not None and not isinstance(item.template, Flaw)
        else item.template
    )
    if mail is None:
        return Rejected(NO_TEMPLATE, "", temporary=False)
    if isinstance(mail, Flaw):
        reason = f"{mail.part}: {mail.broken.message}"
        return Rejected(TEMPLATE_BROKEN, reason, temporary=False)
    message = write(item.envelope, mail, at)
    if isinstance(message, Unwritable):
        return Rejected(message.code, "", temporary=False)
    return Composed(mail, message)


def _barred(item: SendItem) -> Rejected | None:
    if item.gone:
        return Rejected(CONTACT_REMOVED, "", temporary=False)
    if item.suppressed:
        return Rejected(RECIPIENT_SUPPRESSED, SUPPRESSED_TEXT, temporary=False)
    if item.unsubscribed:
        return Rejected(RECIPIENT_SUPPRESSED, UNSUBSCRIBED_TEXT, temporary=False)
    return None
