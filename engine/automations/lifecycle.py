"""The only writer of automations.status and of the columns that change with it (facts 1.13).

version, revision, activated_at, first_activated_at, paused_at, consecutive_run_failures and, on a
transition, updated_at are written here and nowhere else (decisions G3, A9).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from engine.automations.models import ACTIVE, DRAFT, PAUSED, Automation
from engine.core import audit
from engine.core.audit import Actor
from engine.core.db import Id, batch_table
from engine.core.machine import Change, Machine, born, transition
from engine.core.outcome import Problem, Recorded, Refused, Transitioned

LEGAL_EDGES: Final = frozenset(
    {(DRAFT, ACTIVE), (ACTIVE, PAUSED), (PAUSED, ACTIVE), (PAUSED, DRAFT)}
)
ACTIONS: Final[Mapping[str, str]] = {
    ACTIVE: "automation.activated",
    PAUSED: "automation.paused",
    DRAFT: "automation.reverted_to_draft",
}
RESUMED: Final = "automation.resumed"
PUBLISHED: Final = "automation.published"
# So many runs in a row that exhausted their retries pause their automation (facts 1.10).
BREAKER_THRESHOLD: Final = 5
BREAKER: Final = audit.system("automation-breaker")


@dataclass(frozen=True)
class Frozen:
    """The revision that an activation or a publish puts in force, and what it says.

    trigger_changed: of a publish, which is then an activation (decision A9); counts: of its people
    inside, for the audit line.
    """

    revision_id: int
    number: int
    trigger_type: str
    trigger_config: Mapping[str, Any]
    on_pause: str
    reentry: Any
    trigger_changed: bool = False
    counts: Mapping[str, audit.Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class Ask:
    """A status that somebody asks for, with the facts its preconditions need.

    steps: how many steps would be in force; trigger_complete: whether its trigger can ever match;
    problems: what would fail for certain (decision A12); frozen: when leaving the draft, or a
    publish; inside: people with a running run; failures: what made the breaker ask for a pause;
    on_pause: the rule that a resume puts back in force, for a restore may have paused on hold;
    told: what the audit line of a pause or a resume says beside the statuses.
    publish, afresh: inputs of their own, which act without changing the status (decision A9).
    """

    to: str
    steps: int = 0
    trigger_complete: bool = False
    problems: tuple[Problem, ...] = ()
    frozen: Frozen | None = None
    inside: int = 0
    failures: int | None = None
    on_pause: str | None = None
    told: Mapping[str, audit.Scalar] = field(default_factory=dict)
    publish: bool = False
    afresh: bool = False


def unfit(ask: Ask) -> Refused | None:
    """Return why what is asked for cannot go live (facts 1.13, decision A12), or None."""
    if ask.steps == 0:
        return Refused("no_steps")
    if not ask.trigger_complete:
        return Refused("invalid_trigger_config")
    if ask.problems:
        return Refused("check_failed", problems=ask.problems)
    return None


def _reduce(row: Automation, ask: Ask, at: datetime) -> Change | Refused:
    if ask.publish:
        return unfit(ask) or _publish(row, ask, at)
    if ask.to == ACTIVE:
        return unfit(ask) or _activate(row, ask, at)
    if ask.to == PAUSED:
        details: dict[str, audit.Scalar] = {"on_pause": row.on_pause, **ask.told}
        if ask.failures is not None:
            details["consecutive_run_failures"] = ask.failures
        return _told({"paused_at": at, "updated_at": at}, ACTIONS[PAUSED], details)
    if ask.inside:
        return Refused("people_inside", params={"count": ask.inside})
    return _told({"activated_at": None, "paused_at": None, "updated_at": at}, ACTIONS[DRAFT])


def _activate(row: Automation, ask: Ask, at: datetime) -> Change:
    # A resume sets activated_at too: nothing that happened meanwhile fires afterwards (A9).
    patch: dict[str, Any] = {**_begin(row, at), "paused_at": None}
    if ask.frozen is not None:
        patch |= {"version": row.version + 1, **_in_force(ask.frozen)}
        return _told(patch, ACTIONS[ACTIVE], {"revision": ask.frozen.number})
    if ask.on_pause is not None:
        patch["on_pause"] = ask.on_pause
    if ask.afresh:
        return _told({**patch, "version": row.version + 1}, ACTIONS[ACTIVE], {**_AGAIN, **ask.told})
    return _told(patch, RESUMED, ask.told)


def _publish(row: Automation, ask: Ask, at: datetime) -> Change | Refused:
    """Put a revision in force and keep the status; a changed trigger makes it an activation."""
    if ask.frozen is None or row.status != ask.to:
        return Refused("lost_race")
    patch = {**_in_force(ask.frozen), "updated_at": at}
    details: dict[str, audit.Scalar] = {"revision": ask.frozen.number}
    if not ask.frozen.trigger_changed:
        return Change(patch, PUBLISHED, {**details, **ask.frozen.counts})
    patch |= {**_begin(row, at), "version": row.version + 1}
    return _told(patch, ACTIONS[ACTIVE], {**details, **_AGAIN})


_AGAIN: Final[Mapping[str, audit.Scalar]] = {"reactivated": True}


def _begin(row: Automation, at: datetime) -> dict[str, Any]:
    return {
        "activated_at": at,
        "first_activated_at": row.first_activated_at or at,
        "consecutive_run_failures": 0,
        "updated_at": at,
    }


def _in_force(frozen: Frozen) -> dict[str, Any]:
    return {
        "revision_id": frozen.revision_id,
        "trigger_type": frozen.trigger_type,
        "trigger_config": frozen.trigger_config,
        "on_pause": frozen.on_pause,
        "reentry": frozen.reentry,
    }


def _told(
    patch: Mapping[str, Any], action: str, details: Mapping[str, audit.Scalar] | None = None
) -> Change:
    """Return a change that the product's own analytics hear of too (facts 1.13)."""
    return Change(patch, action, details or {}, product_event=action.replace(".", "_"))


MACHINE: Final = Machine[Automation, Ask](
    resource="automation",
    row=Automation,
    edges=LEGAL_EDGES,
    target=lambda ask: ask.to,
    reduce=_reduce,
    action=lambda status: ACTIONS[status],
    reenter=lambda ask: ask.publish or ask.afresh,
)


def new_status() -> dict[str, Any]:
    """Return the lifecycle's columns of an automation that is being created."""
    return {**born(MACHINE, DRAFT), "version": 0, "consecutive_run_failures": 0}


def move(
    session: Session, automation_id: int, ask: Ask, actor: Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Move an automation to the status asked for, or say why not."""
    return transition(session, MACHINE, automation_id, ask, actor, at)


def record_failures(session: Session, counts: Mapping[int, int], at: datetime) -> None:
    """Count runs that exhausted their retries; pause what reached the threshold (facts 1.10).

    counts: failed runs by automation. The caller holds the rows' locks, taken before those of step
    runs and runs. A pause is the breaker's: audited, told as a product event, as any other pause.
    """
    if not counts:
        return
    rows = [{"id": automation_id, "failed": failed} for automation_id, failed in counts.items()]
    batch = batch_table(session, {"id": Id, "failed": Id}, rows)
    row = Automation
    counted = session.execute(
        update(row)
        .where(row.id == batch.c.id)
        .values(consecutive_run_failures=row.consecutive_run_failures + batch.c.failed)
        .returning(row.id, row.status, row.consecutive_run_failures)
        .execution_options(synchronize_session=False)
    ).all()
    for automation_id, status, failures in sorted(counted):
        if status == ACTIVE and failures >= BREAKER_THRESHOLD:
            move(session, automation_id, Ask(PAUSED, failures=failures), BREAKER, at)


def record_successes(
    session: Session,
    automation_ids: Collection[int],
    at: datetime,  # noqa: ARG001 - as its twin
) -> None:
    """Begin the count anew for automations of which a run completed; no lock where it is 0."""
    if not automation_ids:
        return
    session.execute(
        update(Automation)
        .where(Automation.id.in_(automation_ids), Automation.consecutive_run_failures > 0)
        .values(consecutive_run_failures=0)
        .execution_options(synchronize_session=False)
    )
