"""Calls of steps to the servers of others: some at a time, within the budget of a batch.

To people every failed call reads alike, whatever stood behind it: who may write a URL must not
learn from the answer which ports are open (WHK-03). The reason stands in the log of operators.
"""

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, TypeVar

import structlog
from sqlalchemy.orm import Session

from engine.accounts import secret_rows
from engine.accounts.secret_rows import SealedSecret
from engine.accounts.service.secrets import PURPOSE
from engine.automations.families import SECRET, References
from engine.automations.kinds.steps.base import (
    NETWORK_BUDGET,
    Completed,
    Deferred,
    Failed,
    Outcome,
    StepConfig,
    StepKind,
    Visit,
)
from engine.core import clock, crypto, http
from engine.core.http import Answered, Call, Unreachable
from engine.core.outcome import Problem
from engine.core.text import storable
from engine.delivery.compose.render import MailData
from engine.delivery.service import wording

AT_A_TIME: Final = 8
REDIRECTS: Final = 3
# Of an answer so many bytes are kept; of one that failed less, for four of them stand in a log.
KEPT: Final = 4_096
KEPT_OF_FAILED: Final = 1_024
NOT_ALLOWED: Final = Failed("ADDRESS_NOT_ALLOWED", "The address is not allowed")
NO_SECRET: Final = Failed("SECRET_NOT_FOUND", "The secret no longer exists")
UNREADABLE: Final = Failed("SECRET_UNREADABLE", "The secret cannot be opened")
UNREACHABLE: Final = Failed("WEBHOOK_UNREACHABLE", "The server could not be reached")
CRASHED: Final = Failed("STEP_CRASHED", "The call could not be made")

log: Final = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CallFacts:
    """What one call needs: the data of its texts and the sealed secret; None: not there."""

    data: MailData | None
    secret: SealedSecret | None


@dataclass(frozen=True)
class Outgoing:
    """A call that is ready. used: rows of the secrets it needed; quiet: keep no answer."""

    call: Call
    used: tuple[int, ...] = ()
    quiet: bool = False


def call_all(
    calls: Mapping[int, Outgoing], budget: float = NETWORK_BUDGET.total_seconds()
) -> Mapping[int, Outcome]:
    """Make the calls and return what became of each, by the same ids.

    budget: seconds after which no call is begun any more; the rest is put off to the next batch.
    """
    end = time.monotonic() + budget

    def make(outgoing: Outgoing) -> Outcome:
        if time.monotonic() >= end:
            return Deferred(clock.now())
        return _call(outgoing)

    if not calls:
        return {}
    with ThreadPoolExecutor(min(AT_A_TIME, len(calls)), "call") as pool:
        made = {key: pool.submit(make, outgoing) for key, outgoing in calls.items()}
    return {key: _outcome(future) for key, future in made.items()}


def _outcome(made: Future[Outcome]) -> Outcome:
    """Return what became of a call. One that crashed is told and not raised: to raise would have
    all the others called again (walking.run_isolated)."""
    error = made.exception()
    if not isinstance(error, Exception):
        return made.result()
    log.warning("call_crashed", error=type(error).__name__, exc_info=error)
    return CRASHED


def opened(secret: SealedSecret | None, kind: str) -> str | Failed:
    """Return a secret in the clear, for the call alone; or why there is none."""
    if secret is None or secret.kind != kind:
        return NO_SECRET
    plain = crypto.unseal(secret.sealed, PURPOSE)
    return UNREADABLE if plain is None else plain


class CallConfig(StepConfig):
    """What every calling step has: the public id of its secret."""

    secret_id: str | None = None


CallConfigT = TypeVar("CallConfigT", bound=CallConfig)


class CallingStep(StepKind[CallConfigT, CallFacts]):
    """A step that calls a server of others. A kind says what leaves: `outgoing`.

    secret_kind: of the secret that it needs.
    """

    network = True
    secret_kind: ClassVar[str]

    @abstractmethod
    def outgoing(
        self, visit: Visit[CallConfigT], facts: CallFacts | None, at: datetime
    ) -> Outgoing | Failed:
        """Return the call of a visit, or what forbids it."""
        ...

    def references(self, config: CallConfigT) -> References:
        """Return the secret."""
        return {"secret_id": (SECRET, config.secret_id)} if config.secret_id else {}

    def load(
        self, session: Session, visits: Sequence[Visit[CallConfigT]]
    ) -> Mapping[int, CallFacts | None]:
        """Load people and secrets of the whole batch in four statements."""
        people = {(visit.workspace_id, visit.contact_id) for visit in visits}
        data = wording.data_of(session, people)
        wanted = {each.id: (each.workspace_id, each.config.secret_id or "") for each in visits}
        found = secret_rows.sealed(session, {each for each in wanted.values() if each[1]})
        return {
            visit.id: CallFacts(
                data.get((visit.workspace_id, visit.contact_id)), found.get(wanted[visit.id])
            )
            for visit in visits
        }

    def run(
        self, visits: Sequence[Visit[CallConfigT]], facts: Mapping[int, CallFacts | None]
    ) -> Mapping[int, Outcome]:
        """Make the calls; the time of the batch is bounded, the rest comes with the next one."""
        at = clock.now()
        made = {visit.id: self.outgoing(visit, facts.get(visit.id), at) for visit in visits}
        ready = {key: each for key, each in made.items() if isinstance(each, Outgoing)}
        refused = {key: each for key, each in made.items() if isinstance(each, Failed)}
        return {**refused, **call_all(ready)}

    def enrich(
        self, session: Session, workspace_id: int, configs: Mapping[str, CallConfigT]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the name of each secret, in one statement."""
        named = {key: config.secret_id for key, config in configs.items() if config.secret_id}
        return secret_names(session, workspace_id, named)

    def missing(
        self, session: Session, workspace_id: int, configs: Mapping[str, CallConfigT]
    ) -> list[Problem]:
        """Return the steps whose secret is gone or of another kind, for `problems`."""
        named = {p: config.secret_id for p, config in configs.items() if config.secret_id}
        return missing_secrets(session, workspace_id, named, self.secret_kind)


def missing_secrets(
    session: Session, workspace_id: int, named: Mapping[str, str], kind: str
) -> list[Problem]:
    """Return the steps whose secret is gone or of another kind; named: public ids by pointer."""
    here = secret_rows.kinds_of(session, workspace_id, set(named.values()))
    return [
        Problem(f"{pointer}/config/secret_id", "secret_gone")
        for pointer, public_id in named.items()
        if public_id not in here or here[public_id][1] != kind
    ]


def secret_names(
    session: Session, workspace_id: int, named: Mapping[str, str]
) -> Mapping[str, Mapping[str, str]]:
    """Return the names of secrets beside the steps, for `enrich`; named: public ids by key."""
    here = secret_rows.kinds_of(session, workspace_id, set(named.values()))
    return {
        key: {"secret_name": here[public_id][0]}
        for key, public_id in named.items()
        if public_id in here
    }


def _call(outgoing: Outgoing) -> Outcome:
    begun = time.monotonic()
    answer = http.outbound().send(outgoing.call)
    took = round((time.monotonic() - begun) * 1_000)
    if isinstance(answer, Unreachable):
        if answer.reason == http.NOT_ALLOWED:
            return NOT_ALLOWED
        log.info("call_failed", reason=answer.reason, took_ms=took)
        return UNREACHABLE
    told: dict[str, Any] = {"status": answer.status}
    if not answer.good:
        if not outgoing.quiet:
            told["body"] = _text(answer, KEPT_OF_FAILED)
        return Failed("WEBHOOK_REFUSED", f"The server answered {answer.status}", told)
    if not outgoing.quiet:
        told["body"] = _text(answer, KEPT)
    return Completed(result={**told, "took_ms": took}, used=outgoing.used)


def _text(answer: Answered, most: int) -> str:
    """Return the beginning of an answer as text that both databases can hold."""
    text = answer.body[:most].decode("utf-8", "replace").replace("\0", "")
    return text if storable(text) else ""
