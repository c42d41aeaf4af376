"""Custom properties of contacts by API."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from engine.audience import queries, service
from engine.audience.inputs import PropertyInput
from engine.audience.models import PROPERTY_TYPES
from engine.audience.queries import PropertyRow
from engine.core.outcome import Refused, missing
from web.api.answers import etag
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Name, Out, Page, PageQuery, ShortText, one_of, shown
from web.people.messages import WORDS

area: Final = Area("properties", "Custom properties of contacts, each with a type.", WORDS)


class NewProperty(In):
    """A property to define. label: what people read; the key where it is left out."""

    key: Annotated[str, Field(min_length=1, max_length=100, examples=["plan"])]
    type: one_of(*PROPERTY_TYPES)  # type: ignore[valid-type]
    label: ShortText = ""


class PropertyChange(In):
    """What may change: values are stored by key and type."""

    label: Name


class PropertyOut(Out):
    """A custom property."""

    id: str
    key: str
    label: str
    type: str
    created_at: datetime


@area.post("/properties", "properties:manage", {201: PropertyOut})
def create_property(call: Call, body: NewProperty) -> Result:
    """Define a property."""
    data = PropertyInput(body.key, body.type, body.label)
    made = service.create_property(call.session, call.workspace_id, data, call.actor, call.at)
    return made if isinstance(made, Refused) else Answer(_property(made), 201)


@area.get("/properties", "properties:read", Page[PropertyOut])
def list_properties(call: Call, query: PageQuery) -> Result:
    """List the properties by key."""
    rows, following = queries.list_properties(
        call.session, call.workspace_id, query.cursor, query.limit
    )
    return Answer(Page[PropertyOut](items=[_property(row) for row in rows], next=following))


@area.get("/properties/<id>", "properties:read", PropertyOut)
def get_property(call: Call, path: ById) -> Result:
    """Read one property."""
    row = queries.get_property(call.session, call.workspace_id, path.id)
    return missing("property_not_found") if row is None else etag(Answer(_property(row)))


@area.patch("/properties/<id>", "properties:manage", PropertyOut)
def update_property(call: Call, path: ById, body: PropertyChange) -> Result:
    """Change the label of a property."""
    kept = service.update_property(
        call.session, call.workspace_id, path.id, body.label, call.actor, call.at
    )
    return kept if isinstance(kept, Refused) else Answer(_property(kept))


@area.delete("/properties/<id>", "properties:manage")
def delete_property(call: Call, path: ById) -> Result:
    """Delete a property and every value of it."""
    gone = service.delete_property(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


def _property(row: PropertyRow) -> PropertyOut:
    return PropertyOut(**shown(row, PropertyOut))
