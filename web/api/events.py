"""Events of outside programs: what happened to a person, and how many runs it started (G9)."""

from typing import Annotated, Final

from pydantic import Field

from engine.audience import service
from engine.audience.inputs import EventInput
from engine.core.outcome import Refused
from web.api.area import Area
from web.api.door import SOURCE, Answer, Call, Result
from web.api.fields import Email, In, Instant, Out, PublicId, Scalar, example
from web.people.messages import WORDS

area: Final = Area("events", "What happened to a person; automations start from it.", WORDS)


class NewEvent(In):
    """An event. email or contact_id names the person; occurred_at: now where it is left out."""

    email: Email | None = Field(None, json_schema_extra={"format": "email"})
    contact_id: PublicId | None = None
    event_name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,99}$")]
    event_properties: Annotated[
        dict[str, Scalar] | None, Field(description="primitives only", max_length=200)
    ] = None
    create_contact_if_not_exists: bool = False
    occurred_at: Instant | None = None

    model_config = example(
        email="ada@lovelace.example",
        event_name="trial_started",
        event_properties={"plan": "pro"},
        create_contact_if_not_exists=True,
    )


class EventOut(Out):
    """A recorded event. triggered_automations: how many runs it started."""

    event_id: str
    contact_id: str
    event_name: str
    triggered_automations: int
    contact_created: bool


@area.post("/events", "events:write", {201: EventOut})
def create_event(call: Call, body: NewEvent) -> Result:
    """Record an event; the runs it starts are written in the same transaction."""
    data = EventInput(
        event_name=body.event_name,
        email=body.email,
        contact_id=body.contact_id,
        event_properties=body.event_properties,
        create_contact_if_not_exists=body.create_contact_if_not_exists,
        occurred_at=body.occurred_at,
    )
    received = service.receive_event(call.session, call.workspace_id, data, SOURCE, call.at)
    if isinstance(received, Refused):
        return received
    answer = EventOut(
        event_id=received.event_id,
        contact_id=received.contact_id,
        event_name=body.event_name,
        triggered_automations=received.triggered_automations,
        contact_created=received.contact_created,
    )
    return Answer(answer, 201)
