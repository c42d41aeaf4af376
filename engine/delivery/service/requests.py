"""Asking for mail: the one place that says what is withheld, for every path (decisions A4, A17).

Exact under races: the people of limited mail are locked first, then what they got lately is read,
then requests are decided in order. So ask before locking step runs, runs or sends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience.models import UNENGAGED
from engine.delivery.queries import limits
from engine.delivery.service.limiting import Book
from engine.delivery.service.sends import SendRequest, enqueue_many, queued_already

SUPPRESSED: Final = "suppressed"
UNSUBSCRIBED: Final = "unsubscribed"


@dataclass(frozen=True)
class Queued:
    """The mail is queued, now or by an earlier request with its key. row_id: the send's."""

    row_id: int


@dataclass(frozen=True)
class Withheld:
    """The mail is not sent. reason: suppressed, unsubscribed, already_received, daily_limit or
    quiet_hours."""

    reason: str


def request_many(
    session: Session, requests: Sequence[SendRequest], at: datetime
) -> Mapping[str, Queued | Withheld]:
    """Queue what may be sent and answer by dedupe key, for every key.

    Suppressed addresses get nothing, but unengaged ones service mail (facts 3.6); a global opt-out
    stops marketing mail. Limits (A17) are judged in the order of the requests. A key that already
    has a send answers it, whatever the rules. A bounded number of statements.
    """
    wanted: dict[str, SendRequest] = {}
    for request in requests:
        wanted.setdefault(request.dedupe_key, request)
    if not wanted:
        return {}
    reasons = _withheld(session, list(wanted.values()), at)
    going = [each for each in requests if each.dedupe_key not in reasons]
    sent = {
        **enqueue_many(session, going, at),
        **queued_already(session, [wanted[key] for key in reasons]),
    }
    return {key: Queued(sent[key]) if key in sent else Withheld(reasons[key]) for key in wanted}


def _withheld(session: Session, requests: Sequence[SendRequest], at: datetime) -> dict[str, str]:
    """Return why mails are withheld, by dedupe key; nothing for those that go."""
    allowed = limits.limits(session, {each.workspace_id for each in requests})
    book = Book(allowed, requests, at)
    people = audience.reach(session, book.people(), lock=bool(book.limited))
    book.read(session, people)
    blocked = audience.suppressed(session, {_address(each) for each in requests})
    reasons: dict[str, str] = {}
    for request in requests:
        person = people.get(request.contact_id or 0)
        why = barred(request, blocked.get(_address(request)), person) or book.enter(request)
        if why is not None:
            reasons[request.dedupe_key] = why
    return reasons


def _address(request: SendRequest) -> tuple[int, str]:
    return request.workspace_id, audience.suppression_key(request.to_email)


def barred(
    request: SendRequest, blocked: str | None, person: audience.ReachRow | None
) -> str | None:
    """Return why a mail is withheld whatever was sent before, or None.

    blocked: why its address is suppressed; person: None where nobody knows the contact.
    """
    if blocked is not None and (request.marketing or blocked != UNENGAGED):
        return SUPPRESSED
    if person is not None and request.marketing and person.unsubscribed_at is not None:
        return UNSUBSCRIBED
    return None
