"""Contacts by API: save in three modes, read, change, delete, list, and a person's timeline."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from engine.audience import queries, service
from engine.audience.inputs import MERGE, STRICT, UPSERT, ContactInput, ContactPatch
from engine.audience.queries import ContactRow
from engine.core.outcome import Refused, missing
from engine.story import story
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
    Scalar,
    ShortText,
    example,
    one_of,
    shown,
)
from web.people.messages import WORDS

area: Final = Area("contacts", "People you may write to.", WORDS)
_BUILT_IN: Final = ("email", "external_id", "first_name", "last_name", "language", "timezone")
Properties = Annotated[
    dict[str, Scalar],
    Field(description="custom properties by key; null clears", max_length=200),
]


class ContactFields(In):
    """The fields of a contact that a program may set."""

    email: Email | None = Field(None, json_schema_extra={"format": "email"})
    external_id: ShortText | None = None
    first_name: ShortText | None = None
    last_name: ShortText | None = None
    language: ShortText | None = Field(None, examples=["de"])
    timezone: ShortText | None = Field(None, examples=["Europe/Berlin"])
    properties: Properties = Field(default_factory=dict)


class NewContact(ContactFields):
    """A contact to save. mode: what happens when the address or the external id is known."""

    mode: one_of(STRICT, UPSERT, MERGE) = MERGE  # type: ignore[valid-type]

    model_config = example(email="ada@lovelace.example", first_name="Ada", mode="merge")


class ContactOut(Out):
    """A contact."""

    id: str
    email: str | None
    external_id: str | None
    first_name: str | None
    last_name: str | None
    language: str | None
    timezone: str | None
    source: str
    has_opened: bool
    has_clicked: bool
    unsubscribed_at: datetime | None
    created_at: datetime
    updated_at: datetime
    properties: dict[str, Scalar | datetime]


class SavedContact(ContactOut):
    """A saved contact. action: created, matched or updated; changed: keys with a new value."""

    action: str
    changed: list[str]


class ContactQuery(PageQuery):
    """Which contacts. email: the whole address; q: words that an address or a name begins with."""

    email: Email | None = None
    q: ShortText | None = None


class TimelineEntry(Out):
    """One thing that happened to a contact. ref: the id of the event, run or send."""

    at: datetime
    kind: str
    code: str
    params: dict[str, str]
    ref: str | None


@area.post("/contacts", "contacts:manage", {201: SavedContact, 200: SavedContact})
def create_contact(call: Call, body: NewContact) -> Result:
    """Save a contact: 201 when it is new, 200 when it was known."""
    data = ContactInput(
        **{name: getattr(body, name) for name in _BUILT_IN}, properties=body.properties
    )
    saved = service.save_contact(call.session, call.workspace_id, data, body.mode, SOURCE, call.at)
    if isinstance(saved, Refused):
        return saved
    answer = SavedContact(
        **shown(saved.contact, ContactOut), action=saved.action, changed=list(saved.changed)
    )
    return Answer(answer, 201 if saved.action == "created" else 200)


@area.get("/contacts", "contacts:read", Page[ContactOut])
def list_contacts(call: Call, query: ContactQuery) -> Result:
    """List contacts, newest first."""
    rows, following = queries.page_contacts(
        call.session, call.workspace_id, query.email, query.q, query.cursor, query.limit
    )
    return Answer(Page[ContactOut](items=[_contact(row) for row in rows], next=following))


@area.get("/contacts/<id>", "contacts:read", ContactOut)
def get_contact(call: Call, path: ById) -> Result:
    """Read one contact."""
    row = queries.get_contact(call.session, call.workspace_id, path.id)
    if row is None:
        return missing("contact_not_found")
    return etag(Answer(_contact(row)))


@area.patch("/contacts/<id>", "contacts:manage", ContactOut)
def update_contact(call: Call, path: ById, body: ContactFields) -> Result:
    """Change a contact: only the keys that are sent, null clears."""
    fields: dict[str, str | None] = {
        name: getattr(body, name) for name in _BUILT_IN if name in body.model_fields_set
    }
    patch = ContactPatch(fields, body.properties)
    saved = service.update_contact(call.session, call.workspace_id, path.id, patch, SOURCE, call.at)
    return saved if isinstance(saved, Refused) else Answer(_contact(saved.contact))


@area.delete("/contacts/<id>", "contacts:manage")
def delete_contact(call: Call, path: ById) -> Result:
    """Delete a contact; its runs end, nothing is sent any more."""
    gone = service.delete_contact(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


@area.get("/contacts/<id>/timeline", "contacts:read", Page[TimelineEntry])
def list_timeline(call: Call, path: ById, query: PageQuery) -> Result:
    """List what happened to a contact, newest first: events, runs, mails."""
    row = queries.get_contact(call.session, call.workspace_id, path.id)
    if row is None:
        return missing("contact_not_found")
    lines, following = story(call.session, call.workspace_id, row.row_id, query.cursor, query.limit)
    items = [
        TimelineEntry(
            at=line.at, kind=line.kind, code=line.title_code, params=dict(line.params), ref=line.ref
        )
        for line in lines
    ]
    return Answer(Page[TimelineEntry](items=items, next=following))


def _contact(row: ContactRow) -> ContactOut:
    return ContactOut(**shown(row, ContactOut))
