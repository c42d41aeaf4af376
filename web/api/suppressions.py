"""The suppression list by API: addresses that get no mail."""

from datetime import datetime
from typing import Final

from engine.audience import queries, service
from engine.audience.models import MANUAL, SUPPRESSION_REASONS
from engine.audience.queries import SuppressionRow
from engine.core.outcome import Refused, missing
from web.api.answers import etag
from web.api.area import Area
from web.api.door import SOURCE, Answer, Call, Result
from web.api.fields import (
    ById,
    Email,
    In,
    Out,
    Page,
    PageQuery,
    ShortText,
    example,
    one_of,
    shown,
)
from web.people.messages import WORDS

area: Final = Area("suppressions", "Addresses that get no mail.", WORDS)


class NewSuppression(In):
    """An address to block. reason: unengaged blocks marketing mail, the others every mail."""

    email: Email
    reason: one_of(*SUPPRESSION_REASONS) = MANUAL  # type: ignore[valid-type]

    model_config = example(email="former@people.example")


class SuppressionOut(Out):
    """A blocked address. source: where the block comes from."""

    id: str
    email: str
    reason: str
    source: str
    created_at: datetime


class SuppressionQuery(PageQuery):
    """Which addresses. q: what the address begins with."""

    q: ShortText | None = None


@area.post("/suppressions", "contacts:manage", {201: SuppressionOut})
def create_suppression(call: Call, body: NewSuppression) -> Result:
    """Block an address. 409 already_suppressed when it is blocked."""
    made = service.suppress(
        call.session, call.workspace_id, body.email, SOURCE, call.actor, call.at, body.reason
    )
    return made if isinstance(made, Refused) else Answer(_suppression(made), 201)


@area.get("/suppressions", "contacts:read", Page[SuppressionOut])
def list_suppressions(call: Call, query: SuppressionQuery) -> Result:
    """List the blocked addresses, newest first."""
    rows, following = queries.page_suppressions(
        call.session, call.workspace_id, q=query.q, after=query.cursor, limit=query.limit
    )
    items = [_suppression(row) for row in rows]
    return Answer(Page[SuppressionOut](items=items, next=following))


@area.get("/suppressions/<id>", "contacts:read", SuppressionOut)
def get_suppression(call: Call, path: ById) -> Result:
    """Read one entry of the list."""
    row = queries.get_suppression(call.session, call.workspace_id, path.id)
    return missing("suppression_not_found") if row is None else etag(Answer(_suppression(row)))


@area.delete("/suppressions/<id>", "contacts:manage")
def delete_suppression(call: Call, path: ById) -> Result:
    """Take an address off the list; mail may go to it again."""
    gone = service.release(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


def _suppression(row: SuppressionRow) -> SuppressionOut:
    return SuppressionOut(**shown(row, SuppressionOut))
