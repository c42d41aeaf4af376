"""Simulate by API: a person's way through the draft, on a virtual clock (architecture 6)."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from engine.automations.queries import trials
from engine.automations.queries.trials import Invented, Tried, Wanted
from engine.automations.simulating import SimulatedVisit
from engine.automations.somebody import FIELDS
from engine.core.outcome import Refused
from engine.delivery.service import PreviewedMail
from web.api.automations import area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Instant, Out, PublicId, Scalar, ShortText, example
from web.links.making import links


class InventedPerson(In):
    """A person who is nowhere stored. topics: ids; opened, clicked: whether ever a mail."""

    email: Annotated[str, Field(max_length=320)] | None = None
    external_id: ShortText | None = None
    first_name: ShortText | None = None
    last_name: ShortText | None = None
    language: ShortText | None = None
    timezone: ShortText | None = None
    properties: Annotated[dict[str, Scalar], Field(max_length=200)] = Field(default_factory=dict)
    topics: Annotated[list[PublicId], Field(max_length=200)] = Field(default_factory=list)
    opened: bool = False
    clicked: bool = False


class SimulationAsk(In):
    """Who goes through the draft: contact_id, or person in its place.

    event: properties of the event that starts it. choices: outcomes by step key, for steps that
    offer some. at: when the person would enter; now where it is left out.
    """

    contact_id: PublicId | None = None
    person: InventedPerson | None = None
    event: Annotated[dict[str, Scalar] | None, Field(max_length=200)] = None
    choices: Annotated[dict[str, ShortText], Field(max_length=200)] = Field(default_factory=dict)
    at: Instant | None = None

    model_config = example(person={"email": "ada@lovelace.example", "first_name": "Ada"})


class SimulatedMail(Out):
    """A mail as it would be. missing: variables that rendered empty; withheld: why it would not
    leave, as a code; flaw: why it cannot be rendered. Limits of mails a day are not judged."""

    to: str
    subject: str
    html: str
    text: str
    missing: list[str]
    withheld: str | None
    flaw: str | None


class SimulatedError(Out):
    """Why the way ends at a step."""

    code: str
    message: str


class SimulatedStep(Out):
    """One station of the way. branch: the exit taken; result: what decided, as a run keeps it."""

    step: str
    type: str
    arrives_at: datetime
    leaves_at: datetime
    branch: str | None
    result: dict[str, Any]
    reason: str | None
    choices: list[str]
    mail: SimulatedMail | None
    error: SimulatedError | None


class SimulationOut(Out):
    """The way. ended: finished, step_failed or loop_cap; total_seconds: from entry to end."""

    path: list[SimulatedStep]
    ended: str
    total_seconds: float


@area.post("/automations/<id>/simulate", "automations:read", {200: SimulationOut})
def simulate_automation(call: Call, path: ById, body: SimulationAsk) -> Result:
    """Walk a person through the draft on a virtual clock; nothing is written, nothing is sent."""
    wanted = Wanted(
        body.at or call.at,
        body.contact_id,
        None if body.person is None else _invented(body.person),
        body.event,
        body.choices,
    )
    tried = trials.try_out(call.session, call.workspace_id, path.id, wanted, links())
    return tried if isinstance(tried, Refused) else Answer(_shown(tried))


def _invented(person: InventedPerson) -> Invented:
    fields = {key: getattr(person, key) for key in FIELDS}
    return Invented(fields, person.properties, person.topics, person.opened, person.clicked)


def _shown(tried: Tried) -> SimulationOut:
    way = tried.simulation
    return SimulationOut(
        path=[_step(visit) for visit in way.visits],
        ended=way.ended,
        total_seconds=way.total.total_seconds(),
    )


def _step(visit: SimulatedVisit) -> SimulatedStep:
    return SimulatedStep(
        step=visit.key,
        type=visit.type,
        arrives_at=visit.arrives,
        leaves_at=visit.leaves,
        branch=visit.branch,
        result=visit.result,
        reason=visit.reason,
        choices=list(visit.choices),
        mail=None if visit.mail is None else _mail(visit.mail),
        error=None if visit.error is None else SimulatedError.model_validate(visit.error),
    )


def _mail(mail: PreviewedMail) -> SimulatedMail:
    return SimulatedMail(
        to=mail.to,
        subject=mail.subject,
        html=mail.html,
        text=mail.text,
        missing=list(mail.missing),
        withheld=mail.withheld,
        flaw=mail.flaw,
    )
