"""A rendered mail as a message: headers that cannot be injected into, both bodies, the envelope."""

from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from typing import Any, Final

from engine.delivery.compose.addresses import header_address, split_address
from engine.delivery.compose.render import Rendered
from engine.delivery.kinds.base import INVALID_RECIPIENT, INVALID_SENDER, Letter


class _WholeLine(UnstructuredHeader):
    """A header that is never folded: the library would write a long address as an encoded word."""

    def fold(self, *, policy: "Policy[Any]") -> str:
        """Return the header as one line."""
        return f"{self.name}: {self}{policy.linesep}"  # type: ignore[attr-defined]


_HEADERS: Final = HeaderRegistry()
_HEADERS.map_to_type("list-unsubscribe", _WholeLine)  # type: ignore[arg-type]
# Everything travels in seven bits, so that no server has to announce anything for it.
_POLICY: Final = SMTP.clone(cte_type="7bit", header_factory=_HEADERS)


@dataclass(frozen=True)
class Envelope:
    """Who writes to whom; public_id: the send's.

    unsubscribe_url: where the reader ends such mail, None for mail that nobody can end.
    """

    public_id: str
    to_email: str
    from_email: str
    from_name: str
    reply_to: str | None
    unsubscribe_url: str | None = None


@dataclass(frozen=True)
class Written:
    """A message ready to leave. headers: as text; message_id: with its brackets."""

    letter: Letter
    message_id: str
    headers: str


@dataclass(frozen=True)
class Unwritable:
    """An address that no header takes; code: INVALID_RECIPIENT or INVALID_SENDER."""

    code: str


def write(envelope: Envelope, mail: Rendered, at: datetime) -> Written | Unwritable:
    """Return the message. at: its Date; its Message-ID is the send's id at the sender's domain."""
    sender, recipient = split_address(envelope.from_email), split_address(envelope.to_email)
    if recipient is None:
        return Unwritable(INVALID_RECIPIENT)
    shown_to = header_address("", recipient)
    shown_from = header_address(envelope.from_name, sender) if sender else None
    reply = split_address(envelope.reply_to) if envelope.reply_to else None
    shown_reply = header_address("", reply) if reply else None
    if sender is None or shown_from is None or (envelope.reply_to and shown_reply is None):
        return Unwritable(INVALID_SENDER)
    if shown_to is None:
        return Unwritable(INVALID_RECIPIENT)
    utf8 = any(address.utf8 for address in (sender, recipient, reply) if address)
    message = EmailMessage(_POLICY.clone(utf8=utf8))
    message["From"] = shown_from
    message["To"] = shown_to
    if shown_reply is not None:
        message["Reply-To"] = shown_reply
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(at)
    message_id = f"<{envelope.public_id}@{sender.domain}>"
    message["Message-ID"] = message_id
    if envelope.unsubscribe_url is not None:
        # RFC 8058: a mail program posts to this address by itself when its reader asks for it.
        message["List-Unsubscribe"] = f"<{envelope.unsubscribe_url}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    content = message.as_bytes()
    headers = content.partition(b"\r\n\r\n")[0].decode("utf-8", "replace").replace("\r\n", "\n")
    letter = Letter(envelope.public_id, sender.spec, recipient.spec, content, utf8)
    return Written(letter, message_id, headers)
