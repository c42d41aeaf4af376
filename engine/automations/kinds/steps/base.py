"""The contract of a step kind. A kind turns facts into outcomes; it never writes.

Plural on purpose (architecture 3): `load` reads set-wise, `run` has no session in reach.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from engine.audience.inputs import ContactPatch
from engine.automations.families import References
from engine.core.outcome import Problem
from engine.delivery.service import SendRequest

# How long the kinds that call others may go on with one batch; each starts no call behind it and
# defers the rest. Two of them, the last calls included, end within one lease (120 s).
NETWORK_BUDGET: Final = timedelta(seconds=40)


class StepConfig(BaseModel):
    """Base of every kind's configuration: frozen, strict types, unknown keys refused.

    A draft may be incomplete, so fields that are needed to run default to None; `problems` of the
    kind names what is missing before activation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


ConfigT = TypeVar("ConfigT", bound=StepConfig)
FactsT = TypeVar("FactsT")


class Visit(NamedTuple, Generic[ConfigT]):
    """One claimed visit of a person to a step, as a kind sees it.

    id: the step run; contact_id: the person's row; key: unique text of this visit, the idempotency
    key of whatever leaves, the same at every try; trigger: what started the run (kind, name, data).
    attempt: which try this is, from 1; person, automation, step: public ids and the step's key;
    heard: the event that ended the wait (event, its public id; name; properties).
    """

    id: int
    workspace_id: int
    contact_id: int
    key: str
    config: ConfigT
    scheduled_at: datetime
    trigger: Mapping[str, Any]
    attempt: int = 1
    person: str = ""
    automation: str = ""
    step: str = ""
    heard: Mapping[str, Any] | None = None


def event_values(trigger: Mapping[str, Any]) -> dict[str, Any]:
    """Return what texts may read as `event.*`: what started the run, its properties by name."""
    properties = json.loads(trigger.get("event_properties") or "{}")
    return {**properties, **{k: v for k, v in trigger.items() if k != "event_properties"}}


@dataclass(frozen=True)
class TopicChange:
    """A wish to have a person in a topic or out of it. topic_id: the topic's public id."""

    topic_id: str
    join: bool


@dataclass(frozen=True)
class Completed:
    """The step is done. branch: the exit taken, by name; send: a mail to queue in the same commit;
    patch, membership: a change of the person in the same commit (engine.automations.applying);
    result: what decided, as the run page tells it; reason: why nothing was done, as a code; used:
    rows of secrets that were needed (check 81)."""

    branch: str | None = None
    send: SendRequest | None = None
    patch: ContactPatch | None = None
    membership: TopicChange | None = None
    result: Mapping[str, Any] | None = None
    reason: str | None = None
    used: tuple[int, ...] = ()


@dataclass(frozen=True)
class Failed:
    """The step failed. code: stable word; message: the seeds' English text where they give one.

    detail: a JSON object that the log keeps with this try, for example what a server answered; at
    most 4 kB.
    """

    code: str
    message: str
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Passed:
    """The step was passed over, not run. result: who wanted that and why; no kind answers so."""

    result: Mapping[str, Any]


@dataclass(frozen=True)
class Deferred:
    """Not now: the same visit is due again at `until`, and this counts as no execution.

    until: at or before now means at once, behind what others wait for. result: what decided.
    """

    until: datetime
    result: Mapping[str, Any] | None = None


Outcome = Completed | Failed | Passed | Deferred


class StepKind(ABC, Generic[ConfigT, FactsT]):
    """Base of the step kinds; a kind overrides what it needs."""

    Config: type[ConfigT]
    # A kind that ends the run wherever it stands.
    ends: ClassVar[bool] = False
    # A kind whose completed visits count as mails sent (facts 1.15).
    sends: ClassVar[bool] = False
    # A kind that calls servers of others: run when the rest of its batch is settled, and bounded
    # by NETWORK_BUDGET.
    network: ClassVar[bool] = False

    def branches(self, config: ConfigT) -> Mapping[str, str | None]:  # noqa: ARG002 - a contract
        """Return the exits by name: a step key, `end`, or None for "next in order"."""
        return {}

    def structure(
        self,
        config: ConfigT,  # noqa: ARG002 - a contract
        pointer: str,  # noqa: ARG002
    ) -> list[Problem]:
        """Return faults of the configuration's structure; judged on every save (decision A8)."""
        return []

    def references(self, config: ConfigT) -> References:  # noqa: ARG002 - a contract
        """Return what the configuration names and another workspace may lack."""
        return {}

    def kept_back(self, config: ConfigT) -> Sequence[str]:  # noqa: ARG002 - a contract
        """Return what may be a secret, which no export shows: places below the configuration.

        A place is a JSON pointer without its first slash, as in `references`.
        """
        return ()

    def problems(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, ConfigT],  # noqa: ARG002
    ) -> list[Problem]:
        """Return what would fail for certain, by JSON pointer of the step (decision A12)."""
        return []

    def warnings(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, ConfigT],  # noqa: ARG002
    ) -> list[Problem]:
        """Return what may go wrong but forbids nothing, as `problems` does (decision A12)."""
        return []

    def entry_delay(self, config: ConfigT) -> timedelta:  # noqa: ARG002 - a contract
        """Return how long a person waits before the step is executed."""
        return timedelta(0)

    def awaits(self, config: ConfigT) -> str | None:  # noqa: ARG002 - a contract
        """Return the name of the event that ends the wait early; None: nothing does."""
        return None

    def load(
        self,
        session: Session,  # noqa: ARG002 - a contract
        visits: Sequence[Visit[ConfigT]],
    ) -> Mapping[int, FactsT | None]:
        """Return the facts of each visit, by its id; reads only, a bounded number of statements."""
        return {visit.id: None for visit in visits}

    @abstractmethod
    def run(
        self, visits: Sequence[Visit[ConfigT]], facts: Mapping[int, FactsT | None]
    ) -> Mapping[int, Outcome]:
        """Return one outcome per visit id."""
        ...

    def enrich(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, ConfigT],  # noqa: ARG002
    ) -> Mapping[str, Mapping[str, str]]:
        """Return names to show beside the steps, by the caller's keys; one statement for all."""
        return {}


AnyStepKind = StepKind[Any, Any]
