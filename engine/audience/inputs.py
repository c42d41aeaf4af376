"""What the services of audience take and answer: frozen values, no rows and no rules.

Raw property values are what JSON knows (str, int, float, bool, None); `values` judges them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from engine.audience.queries.contacts import ContactRow
from engine.audience.values import Native

Mode = Literal["strict", "upsert", "merge"]
Action = Literal["created", "matched", "updated"]

STRICT: Final = "strict"
UPSERT: Final = "upsert"
MERGE: Final = "merge"

# Where a contact or a membership comes from (facts 3.1, 3.4).
API: Final = "api"
CONSOLE: Final = "console"
IMPORT: Final = "import"
AUTOMATION: Final = "automation"
INBOUND: Final = "inbound"


@dataclass(frozen=True)
class ContactInput:
    """A person as a program or a form names it. At least email or external_id is needed."""

    email: str | None = None
    external_id: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    language: str | None = None
    timezone: str | None = None
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ContactPatch:
    """What a PATCH changes: a key that is absent stays, null (or '' in a built-in field) clears.

    fields: among email, external_id, first_name, last_name, language, timezone.
    """

    fields: Mapping[str, str | None] = field(default_factory=dict)
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class SavedContact:
    """A contact after a write. changed: the watched keys whose stored value changed (facts 1.3)."""

    contact: ContactRow
    action: Action
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ValueChange:
    """One value of a person before and after a write; None where there is or was none."""

    key: str
    before: Native | None
    after: Native | None


@dataclass(frozen=True)
class EventInput:
    """An event of an outside program (facts 1.4). email or contact_id (public id) names the person.

    event_properties: None where none were supplied. occurred_at: None means now.
    """

    event_name: str
    email: str | None = None
    contact_id: str | None = None
    event_properties: Mapping[str, object] | None = None
    create_contact_if_not_exists: bool = False
    occurred_at: datetime | None = None


@dataclass(frozen=True)
class ReceivedEvent:
    """The answer to an event; ids are public ids, triggered_automations counts started runs."""

    event_id: str
    contact_id: str
    triggered_automations: int
    contact_created: bool


@dataclass(frozen=True)
class Subscription:
    """What a subscription came to (facts 3.4)."""

    outcome: Literal["subscribed", "pending_doi", "already_member"]


@dataclass(frozen=True)
class Unsubscription:
    """What leaving a topic came to (facts 3.5)."""

    outcome: Literal["unsubscribed", "not_member"]


@dataclass(frozen=True)
class PropertyInput:
    """A custom property to define. type: text, number, boolean, instant. label: key when empty."""

    key: str
    type: str
    label: str = ""


@dataclass(frozen=True)
class TopicInput:
    """A topic as it shall be. New ones ask for double opt-in unless told otherwise (facts 3.4)."""

    name: str
    description: str | None = None
    require_double_opt_in: bool = True
