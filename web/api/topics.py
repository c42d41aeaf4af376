"""Topics by API, and who is in them."""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, Field

from engine.audience import queries, service
from engine.audience.inputs import TopicInput
from engine.audience.queries import MemberRow, TopicRow
from engine.core.outcome import Refused, missing
from web.api.answers import etag, precondition
from web.api.area import Area
from web.api.door import SOURCE, Answer, Call, Result
from web.api.fields import ById, In, LongText, Name, Out, Page, PageQuery, example, shown
from web.people.messages import WORDS

area: Final = Area("topics", "What people subscribe to.", WORDS)


class NewTopic(In):
    """A topic to create. require_double_opt_in: a subscription waits for a confirmation."""

    name: Name
    description: LongText | None = None
    require_double_opt_in: bool = True

    model_config = example(name="News")


class TopicChange(In):
    """What changes; only the keys that are sent."""

    name: Name = Field(default_factory=str)
    description: LongText | None = None
    require_double_opt_in: bool = True


class TopicOut(Out):
    """A topic."""

    id: str
    name: str
    description: str | None
    require_double_opt_in: bool
    created_at: datetime


class MemberPath(BaseModel):
    """A contact in a topic; both are ids."""

    id: str
    contact: str


class MemberOut(Out):
    """A person in a topic. pending: the confirmation is still owed."""

    contact_id: str
    email: str | None
    first_name: str | None
    last_name: str | None
    pending: bool
    source: str
    since: datetime


class MembershipOut(Out):
    """What a call came to: subscribed, pending_doi, already_member, unsubscribed, not_member."""

    topic_id: str
    contact_id: str
    outcome: str


@area.post("/topics", "topics:manage", {201: TopicOut})
def create_topic(call: Call, body: NewTopic) -> Result:
    """Create a topic."""
    data = TopicInput(body.name, body.description, body.require_double_opt_in)
    made = service.create_topic(call.session, call.workspace_id, data, call.actor, call.at)
    return made if isinstance(made, Refused) else Answer(_topic(made), 201)


@area.get("/topics", "topics:read", Page[TopicOut])
def list_topics(call: Call, query: PageQuery) -> Result:
    """List topics, newest first."""
    rows, following = queries.page_topics(
        call.session, call.workspace_id, query.cursor, query.limit
    )
    return Answer(Page[TopicOut](items=[_topic(row) for row in rows], next=following))


@area.get("/topics/<id>", "topics:read", TopicOut)
def get_topic(call: Call, path: ById) -> Result:
    """Read one topic."""
    row = queries.get_topic(call.session, call.workspace_id, path.id)
    return missing("topic_not_found") if row is None else etag(Answer(_topic(row)))


@area.patch("/topics/<id>", "topics:manage", TopicOut)
def update_topic(call: Call, path: ById, body: TopicChange) -> Result:
    """Change a topic: only the keys that are sent."""
    row = queries.get_topic(call.session, call.workspace_id, path.id, hold=True)
    if row is None:
        return missing("topic_not_found")
    sent = {name: getattr(body, name) for name in body.model_fields_set}
    known = {name: getattr(row, name) for name in TopicChange.model_fields}
    data = TopicInput(**{**known, **sent})
    kept = service.update_topic(call.session, call.workspace_id, path.id, data, call.actor, call.at)
    return kept if isinstance(kept, Refused) else etag(Answer(_topic(kept)))


@area.put("/topics/<id>", "topics:manage", {200: TopicOut}, guarded=True)
def replace_topic(call: Call, path: ById, body: NewTopic) -> Result:
    """Replace a topic; If-Match is the ETag that GET answered."""
    row = queries.get_topic(call.session, call.workspace_id, path.id, hold=True)
    if row is None:
        return missing("topic_not_found")
    refused = precondition(call, Answer(_topic(row)))
    if refused is not None:
        return refused
    data = TopicInput(body.name, body.description, body.require_double_opt_in)
    kept = service.update_topic(call.session, call.workspace_id, path.id, data, call.actor, call.at)
    return kept if isinstance(kept, Refused) else etag(Answer(_topic(kept)))


@area.delete("/topics/<id>", "topics:manage")
def delete_topic(call: Call, path: ById) -> Result:
    """Delete a topic and its memberships."""
    gone = service.delete_topic(call.session, call.workspace_id, path.id, call.actor, call.at)
    return gone if isinstance(gone, Refused) else Answer(None, 204)


@area.get("/topics/<id>/members", "topics:read", Page[MemberOut])
def list_members(call: Call, path: ById, query: PageQuery) -> Result:
    """List the people in a topic, newest first."""
    if queries.get_topic(call.session, call.workspace_id, path.id) is None:
        return missing("topic_not_found")
    rows, following = queries.page_members(
        call.session, call.workspace_id, path.id, query.cursor, query.limit
    )
    return Answer(Page[MemberOut](items=[_member(row) for row in rows], next=following))


@area.put("/topics/<id>/members/<contact>", "contacts:manage", {200: MembershipOut})
def subscribe(call: Call, path: MemberPath) -> Result:
    """Subscribe a contact. With double opt-in the membership is pending and starts nothing."""
    done = service.subscribe(
        call.session, call.workspace_id, path.id, path.contact, SOURCE, call.at
    )
    return done if isinstance(done, Refused) else _outcome(path, done.outcome)


@area.delete("/topics/<id>/members/<contact>", "contacts:manage")
def unsubscribe(call: Call, path: MemberPath) -> Result:
    """Take a contact out of a topic; nothing happens when it is not in it."""
    done = service.unsubscribe(
        call.session, call.workspace_id, path.id, path.contact, SOURCE, call.at
    )
    return done if isinstance(done, Refused) else Answer(None, 204)


def _outcome(path: MemberPath, outcome: str) -> Answer:
    return Answer(MembershipOut(topic_id=path.id, contact_id=path.contact, outcome=outcome))


def _topic(row: TopicRow) -> TopicOut:
    return TopicOut(**shown(row, TopicOut))


def _member(row: MemberRow) -> MemberOut:
    return MemberOut.model_validate(row)
