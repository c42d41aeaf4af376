"""What is asked before somebody enters an automation, one by one, judged as of now (A2, A15)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations import deciding, entries
from engine.automations.kinds.triggers import TRIGGERS
from engine.automations.models import (
    ACTIVE,
    Automation,
    AutomationEntry,
    FiredLedger,
)
from engine.core.events import Event, NewEvent
from engine.core.ids import is_public_id

PASSES: Final = "passes"
BARS: Final = "bars"
INFORMS: Final = "informs"
# The newest events of a person are looked at.
_EVENTS: Final = 50


@dataclass(frozen=True)
class Check:
    """One thing that is asked before somebody enters.

    name: active, event, matching, activation, inside, reentry, fired or mail; verdict: passes, bars
    or informs; code: what was found, with parameters.
    """

    name: str
    verdict: str
    code: str
    params: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRef:
    """A run of this person in this automation."""

    public_id: str
    status: str
    ended_reason: str | None
    started_at: datetime
    completed_at: datetime | None
    event_row: int | None


@dataclass(frozen=True)
class EventRef:
    """The newest event of the person that the trigger matches."""

    row_id: int
    public_id: str
    kind: str
    name: str | None
    source: str
    occurred_at: datetime
    recorded_at: datetime


def matching(
    session: Session, row: Automation, contact_row: int
) -> tuple[tuple[Check, ...], EventRef | None]:
    """Return what events and the trigger's configuration say, and the newest that matches."""
    kind = TRIGGERS.get(row.trigger_type) if row.trigger_type in TRIGGERS else None
    try:
        config = kind.Config.model_validate(row.trigger_config) if kind else None
    except ValidationError:
        config = None
    if kind is None or config is None:
        return (Check("matching", BARS, deciding.UNREADABLE),), None
    if not kind.complete(config):
        return (Check("matching", BARS, "incomplete"),), None
    name = kind.event_name(config)
    for found in _happened(session, row, contact_row, kind.listens_to, name):
        theirs = not kind.addressed or found.data.get("automation") == row.public_id
        if theirs and kind.matches(config, _as_new(found)):
            event = _ref(found)
            seen = Check("event", PASSES, "event", {"at": found.recorded_at.isoformat()})
            return (seen, Check("matching", PASSES, "matches")), event
    other = _happened(session, row, contact_row, kind.listens_to, None, most=1)
    if not other:
        return (Check("event", BARS, "no_event"),), None
    said = {"at": other[0].recorded_at.isoformat(), "name": other[0].name or ""}
    return (
        Check("event", PASSES, "event", said),
        Check("matching", BARS, "not_matching", said),
    ), None


def _happened(
    session: Session,
    row: Automation,
    contact_row: int,
    kind: str,
    name: str | None,
    most: int = _EVENTS,
) -> Sequence[Event]:
    query = select(Event).where(
        Event.workspace_id == row.workspace_id,
        Event.contact_id == contact_row,
        Event.kind == kind,
    )
    if name is not None:
        query = query.where(Event.name == name)
    return session.scalars(query.order_by(Event.id.desc()).limit(most)).all()


def _as_new(row: Event) -> NewEvent:
    return NewEvent(
        row.workspace_id,
        row.contact_id,
        row.kind,
        row.source,
        row.occurred_at,
        row.name,
        row.data,
    )


def _ref(row: Event) -> EventRef:
    return EventRef(
        row.id, row.public_id, row.kind, row.name, row.source, row.occurred_at, row.recorded_at
    )


def active(row: Automation) -> Check:
    """Return whether the automation takes people in at all."""
    if row.deleted_at is not None:
        return Check("active", BARS, "deleted", {"at": row.deleted_at.isoformat()})
    if row.status == ACTIVE:
        return Check("active", PASSES, "active")
    since = {"at": row.paused_at.isoformat()} if row.paused_at else {}
    return Check("active", BARS, row.status, since)


def activation(row: Automation, event: EventRef) -> Check:
    """Return whether it happened after the activation; what lies before starts nothing (A2)."""
    if row.activated_at is None or event.occurred_at >= row.activated_at:
        return Check("activation", PASSES, "after_activation")
    said = {"at": event.occurred_at.isoformat(), "activated": row.activated_at.isoformat()}
    return Check("activation", BARS, deciding.BEFORE_ACTIVATION, said)


def inside(running: RunRef | None) -> Check:
    """Return whether a run is under way: nobody is inside twice (facts 1.5)."""
    if running is None:
        return Check("inside", PASSES, "not_inside")
    return Check("inside", BARS, deciding.ALREADY_INSIDE, {"run": running.public_id})


def reentry(
    session: Session, row: Automation, contact_row: int, runs: Sequence[RunRef], at: datetime
) -> Check:
    """Return whether the automation lets the person in again (decision A15)."""
    if not entries.limits(row.reentry):
        return Check("reentry", PASSES, "unlimited")
    entry = AutomationEntry
    noted = session.scalar(
        select(entry.entered_at).where(
            entry.workspace_id == row.workspace_id,
            entry.automation_id == row.id,
            entry.contact_id == contact_row,
        )
    )
    last = max([*(run.started_at for run in runs), *([noted] if noted else [])], default=None)
    if last is None:
        return Check("reentry", PASSES, "never_entered")
    said: dict[str, str | int] = {"at": last.isoformat()}
    rule: Any = row.reentry
    if rule == entries.ONCE:
        return Check("reentry", BARS, deciding.ENTERED_BEFORE, said)
    said["days"] = int(rule["days"])
    if last > at - timedelta(days=rule["days"]):
        return Check("reentry", BARS, deciding.ENTERED_LATELY, said)
    return Check("reentry", PASSES, "long_ago", said)


def fired(session: Session, row: Automation, contact_id: str) -> tuple[Check, ...]:
    """Return what a scan of time has noted of the person in this activation (facts 1.16)."""
    kind = TRIGGERS.get(row.trigger_type) if row.trigger_type in TRIGGERS else None
    if kind is None or not kind.addressed:
        return ()
    ledger = FiredLedger
    noted = session.scalar(
        select(ledger.fired_at)
        .where(
            ledger.workspace_id == row.workspace_id,
            ledger.automation_id == row.id,
            ledger.automation_version == row.version,
            func.substr(ledger.entity_key, 1, len(contact_id) + 1) == f"{contact_id}:",
        )
        .order_by(ledger.fired_at.desc())
        .limit(1)
    )
    if noted is None:
        return (Check("fired", INFORMS, "not_fired"),)
    return (Check("fired", INFORMS, "fired", {"at": noted.isoformat()}),)


def mail(session: Session, workspace_id: int, person: audience.ContactRow) -> Check:
    """Return whether mails would be withheld: that keeps nobody out, but may be what one seeks."""
    if person.email is None:
        return Check("mail", INFORMS, "no_address")
    blocked = audience.blocked_for(session, workspace_id, person.email)
    if blocked is not None:
        return Check("mail", INFORMS, "suppressed", {"why": blocked})
    if person.unsubscribed_at is not None:
        return Check("mail", INFORMS, "unsubscribed", {"at": person.unsubscribed_at.isoformat()})
    return Check("mail", PASSES, "reachable")


def name_of(session: Session, workspace_id: int, automation_id: str) -> str | None:
    """Return the name of an automation, deleted ones included; None for an unknown one."""
    if not is_public_id(automation_id):
        return None
    return session.scalar(
        select(Automation.name).where(
            Automation.workspace_id == workspace_id, Automation.public_id == automation_id
        )
    )
