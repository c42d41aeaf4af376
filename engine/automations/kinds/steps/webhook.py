"""Tell a server of somebody else (decision A13): one signed POST or PUT, tried again by the walker.

The event's id stays the same over all tries, the delivery's differs; both travel in headers, so
that a receiver can tell a repetition (API-05).
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field
from sqlalchemy.orm import Session

from engine.accounts.service.secrets import SIGNING
from engine.automations.calling import (
    NO_SECRET,
    REDIRECTS,
    CallConfig,
    CallFacts,
    CallingStep,
    Outgoing,
    opened,
)
from engine.automations.kinds.steps.base import Failed, Visit, event_values
from engine.core.http import Call
from engine.core.outcome import Problem, below
from engine.delivery.compose.render import MailData
from engine.delivery.service import wording

NO_ADDRESS: Final = Failed("WEBHOOK_WITHOUT_ADDRESS", "No address configured")
BROKEN: Final = Failed("WEBHOOK_BODY_BROKEN", "The body cannot be made")
MOST_HEADERS: Final = 10
_NAME: Final = re.compile(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")
# Names of headers, and of values in an address, that people put credentials into.
_CREDENTIAL: Final = re.compile(r"auth|cookie|credential|key|pass|secret|sig|token", re.IGNORECASE)
# What the call itself says, or what would change whom it reaches.
_OURS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "te", "trailer",
     "upgrade", "expect", "idempotency-key", "user-agent", "accept-encoding", "cookie"}
)  # fmt: skip
Text = Annotated[str, Field(max_length=2_000)]


class WebhookConfig(CallConfig):
    """url: whom to tell; body: a JSON document with Liquid in its texts, None: who and why.

    headers: more of them, at most ten; secret_id: of a signing secret, by public id.
    """

    url: Text | None = None
    method: Literal["POST", "PUT"] = "POST"
    body: Annotated[str, Field(max_length=wording.LONGEST)] | None = None
    headers: dict[str, Text] = Field(default_factory=dict)


class WebhookStep(CallingStep[WebhookConfig]):
    """The webhook step."""

    Config = WebhookConfig
    secret_kind = SIGNING

    def structure(self, config: WebhookConfig, pointer: str) -> list[Problem]:
        """Refuse what is no web address, no JSON, no header."""
        where = f"{pointer}/config"
        found = [] if config.url is None or is_web(config.url) else [_wrong(where, "url")]
        found += _body_problems(config.body, f"{where}/body")
        if len(config.headers) > MOST_HEADERS:
            found.append(Problem(f"{where}/headers", "too_many_headers", {"limit": MOST_HEADERS}))
        found += [
            Problem(f"{where}/headers", "header_not_allowed", {"name": name[:100]})
            for name, value in config.headers.items()
            if not _may_send(name, value)
        ]
        return found

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, WebhookConfig]
    ) -> list[Problem]:
        """Refuse a call to nobody, and one whose secret is gone."""
        found = [
            Problem(f"{pointer}/config/url", "address_missing")
            for pointer, config in configs.items()
            if config.url is None
        ]
        return found + self.missing(session, workspace_id, configs)

    def kept_back(self, config: WebhookConfig) -> Sequence[str]:
        """Return headers that look like credentials, and an address that holds some."""
        names = [name for name in config.headers if _CREDENTIAL.search(name)]
        places = [below("headers", name) for name in names]
        return [*places, "url"] if config.url and _holds_credentials(config.url) else places

    def outgoing(
        self, visit: Visit[WebhookConfig], facts: CallFacts | None, at: datetime
    ) -> Outgoing | Failed:
        """Return the call of a visit, signed at `at`, or what forbids it."""
        config = visit.config
        if config.url is None:
            return NO_ADDRESS
        if facts is None or facts.data is None:
            return Failed("CONTACT_NOT_FOUND", "Automation run or contact not found")
        body = body_of(visit, facts.data, at)
        if body is None:
            return BROKEN
        stamp = str(int(at.timestamp()))
        headers = {**config.headers, **_headers(visit, stamp)}
        if config.secret_id is None:
            return Outgoing(Call(config.method, config.url, headers, body, REDIRECTS))
        secret = opened(facts.secret, SIGNING)
        if isinstance(secret, Failed) or facts.secret is None:
            return secret if isinstance(secret, Failed) else NO_SECRET
        headers["X-Stellwerk-Signature"] = f"t={stamp},v1={signature(secret, stamp, body)}"
        call = Call(config.method, config.url, headers, body, REDIRECTS)
        return Outgoing(call, (facts.secret.row_id,))


def _holds_credentials(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    named = parse_qsl(parts.query, keep_blank_values=True)
    return "@" in parts.netloc or any(_CREDENTIAL.search(name) for name, _value in named)


def body_of(visit: Visit[WebhookConfig], data: MailData, at: datetime) -> bytes | None:
    """Return the JSON that is sent; None where a text of it does not work."""
    if visit.config.body is None:
        document: Any = _usual(visit, data)
    else:
        context = {"event": event_values(visit.trigger)}
        known = MailData(data.contact, data.properties, data.workspace, context)
        try:
            document = _filled(json.loads(visit.config.body), known, at)
        except (ValueError, RecursionError):
            return None
    try:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return None


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 of time stamp and body, in hex."""
    return hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def is_web(url: str) -> bool:
    """Return whether a text is an address of the web; where it leads is judged at the call."""
    if not url.isprintable() or any(char.isspace() for char in url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _headers(visit: Visit[WebhookConfig], stamp: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Idempotency-Key": visit.key,
        "X-Stellwerk-Event": visit.key,
        "X-Stellwerk-Delivery": f"{visit.key}.{visit.attempt}",
        "X-Stellwerk-Attempt": str(visit.attempt),
        "X-Stellwerk-Timestamp": stamp,
    }


def _usual(visit: Visit[WebhookConfig], data: MailData) -> dict[str, Any]:
    return {
        "id": visit.key,
        "automation": visit.automation,
        "step": visit.step,
        "contact": {**data.contact, "properties": dict(data.properties)},
        "event": event_values(visit.trigger),
    }


def _filled(value: Any, data: MailData, at: datetime) -> Any:
    """Render the texts of a document; raises ValueError where one does not work."""
    if isinstance(value, dict):
        return {key: _filled(each, data, at) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, data, at) for each in value]
    if not isinstance(value, str):
        return value
    text = wording.render_text(value, data, at)
    if text is None:
        raise ValueError("a text of the body does not work")
    return text


def _body_problems(body: str | None, pointer: str) -> list[Problem]:
    if body is None:
        return []
    try:
        document = json.loads(body)
        # What no JSON can say, a number that is none or half a character, is found by writing it.
        json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
        texts = list(_texts(document))
    except (ValueError, RecursionError):
        return [Problem(pointer, "not_json")]
    found = (wording.check_text(text, pointer) for text in texts)
    return [problem for problem in found if problem is not None][:1]


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def _may_send(name: str, value: str) -> bool:
    lower = name.lower()
    ours = lower in _OURS or lower.startswith(("x-stellwerk-", "proxy-"))
    return bool(_NAME.match(name)) and not ours and value.isascii() and value.isprintable()


def _wrong(where: str, field: str) -> Problem:
    return Problem(f"{where}/{field}", "no_web_address")
