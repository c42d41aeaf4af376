"""One batch of events → matching active automations → new runs, in the events' own transaction.

Facts 1.5, decisions A2, G9. Guard and insert are one statement: the partial unique index decides.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.service.happenings import RECEIVED
from engine.automations import entries, holding, run_lifecycle, run_records
from engine.automations.graph import GraphStep
from engine.automations.hints import hint_steps
from engine.automations.kinds.triggers import TRIGGERS
from engine.automations.kinds.triggers.base import AnyTriggerKind
from engine.automations.models import ACTIVE, Automation, AutomationRevision, AutomationRun
from engine.automations.revisions import graphs
from engine.automations.run_records import Birth
from engine.automations.waking import wake
from engine.core.db import among
from engine.core.events import RecordedEvent
from engine.core.ids import new_public_ids

CONTACT_DELETED: Final = "contact_deleted"
# The event that starts a run, with its trigger data, by contact.
Chosen = Mapping[int, tuple[RecordedEvent, Any]]


@dataclass(frozen=True)
class Live:
    """An active automation as the fan-out needs it. revision: the public id of the frozen one."""

    id: int
    workspace_id: int
    revision_id: int
    revision: str
    trigger_type: str
    trigger_config: Mapping[str, Any]
    reentry: object
    activated_at: datetime


def on_events(session: Session, events: Sequence[RecordedEvent], at: datetime) -> Counter[int]:
    """Start runs for a batch of recorded events; return how many started, by event row."""
    started: Counter[int] = Counter()
    by_workspace: dict[int, list[RecordedEvent]] = defaultdict(list)
    for event in events:
        if event.event.start_automations:
            by_workspace[event.event.workspace_id].append(event)
    for workspace_id, batch in by_workspace.items():
        for automation in _listening(session, workspace_id, batch):
            started.update(_start(session, automation, batch, at))
        wake(session, workspace_id, [each for each in batch if each.event.kind == RECEIVED], at)
    _cancel_removed(session, events, at)
    return started


def _listening(
    session: Session, workspace_id: int, events: Sequence[RecordedEvent]
) -> Sequence[Live]:
    """Return the active automations that listen to any of these events, oldest first."""
    kinds = {event.event.kind for event in events}
    types = [name for name, kind in TRIGGERS.items() if kind.listens_to in kinds]
    if not types:
        return []
    row, frozen = Automation, AutomationRevision
    statement = (
        select(row, frozen.public_id)
        .join(
            frozen,
            (frozen.id == row.revision_id) & (frozen.workspace_id == row.workspace_id),
        )
        .where(
            row.workspace_id == workspace_id,
            row.status == ACTIVE,
            row.deleted_at.is_(None),
            row.trigger_type.in_(types),
        )
        .order_by(row.id)
        .execution_options(populate_existing=True)
    )
    return [
        Live(
            found.id,
            found.workspace_id,
            found.revision_id,
            revision,
            found.trigger_type,
            found.trigger_config,
            found.reentry,
            found.activated_at,
        )
        for found, revision in session.execute(statement)
        if found.revision_id is not None and found.activated_at is not None
    ]


def _start(
    session: Session, automation: Live, events: Sequence[RecordedEvent], at: datetime
) -> Counter[int]:
    known = graphs(session, {automation.revision_id: automation.revision})
    graph = known.get(automation.revision_id)
    first = graph.at(0) if graph else None
    chosen = _admitted(session, automation, _matching(automation, events), at) if first else {}
    if graph is None or first is None or not chosen:
        return Counter()
    due = at + first.kind.entry_delay(first.config)
    rows = [
        {
            "public_id": public_id,
            "contact_id": contact_id,
            "event_id": recorded.id,
            "trigger_data": data,
        }
        for public_id, (contact_id, (recorded, data)) in zip(
            new_public_ids(len(chosen)), chosen.items(), strict=True
        )
    ]
    birth = Birth(
        automation.workspace_id,
        automation.id,
        automation.revision_id,
        automation.trigger_type,
        due if due > at else None,
        at,
    )
    made = run_records.create_runs(session, birth, rows)
    _first_steps(session, automation, [run_id for run_id, _ in made], first, at)
    event_of = {row["public_id"]: row["event_id"] for row in rows}
    return Counter(event_of[public_id] for _, public_id in made)


def _admitted(session: Session, automation: Live, chosen: Chosen, at: datetime) -> Chosen:
    """Leave out whom the automation's own rule lets in no more (decision A15)."""
    if not chosen or not entries.limits(automation.reentry):
        return chosen
    place = (automation.workspace_id, automation.id)
    admitted = entries.admit(session, *place, automation.reentry, chosen, at)
    return {contact_id: found for contact_id, found in chosen.items() if contact_id in admitted}


def _matching(automation: Live, events: Sequence[RecordedEvent]) -> Chosen:
    """Return the first event that starts a run, with its trigger data, by contact."""
    kind: AnyTriggerKind = TRIGGERS.get(automation.trigger_type)
    try:
        config = kind.Config.model_validate(automation.trigger_config)
    except ValidationError:
        return {}  # a broken definition matches nothing and stalls nobody (facts 1.2)
    chosen: dict[int, tuple[RecordedEvent, Any]] = {}
    for recorded in events:
        event = recorded.event
        if event.kind != kind.listens_to or event.occurred_at < automation.activated_at:
            continue  # what happened before the activation starts nothing (decision A2)
        if event.contact_id not in chosen and kind.matches(config, event):
            chosen[event.contact_id] = (recorded, kind.data(config, event))
    return chosen


def _first_steps(
    session: Session, automation: Live, run_ids: Sequence[int], first: GraphStep, at: datetime
) -> None:
    same = step_row(0, automation.workspace_id, first, at) | {"automation_id": automation.id}
    rows = [{**same, "automation_run_id": run_id} for run_id in run_ids]
    hint_steps(session, run_records.create_step_runs(session, rows, at), at)


def step_row(run_id: int, workspace_id: int, step: GraphStep, at: datetime) -> dict[str, Any]:
    """Return a pending visit to `step`, due after its entry delay."""
    due = at + step.kind.entry_delay(step.config)
    row = {
        "workspace_id": workspace_id,
        "automation_run_id": run_id,
        "step_index": step.index,
        "step_key": step.key,
        "step_type": step.type,
        "delay_until": due if due > at else None,
    }
    awaits = step.kind.awaits(step.config)
    return row if awaits is None else {**row, "awaits": awaits}


def _cancel_removed(session: Session, events: Sequence[RecordedEvent], at: datetime) -> None:
    """End the runs of contacts that were deleted (decision A3)."""
    gone: dict[int, list[int]] = defaultdict(list)
    for recorded in events:
        if recorded.event.kind == CONTACT_DELETED:
            gone[recorded.event.workspace_id].append(recorded.event.contact_id)
    for workspace_id, contact_ids in gone.items():
        where = [
            AutomationRun.workspace_id == workspace_id,
            among(session, AutomationRun.contact_id, contact_ids),
        ]
        holding.cancel_inside(session, where, run_lifecycle.REMOVED, at)
