"""One batch of events → matching active automations → new runs, in the events' own transaction.

Facts 1.5, decisions A2, G9. Guard and insert are one statement: the partial unique index decides.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Executable, bindparam, or_, select
from sqlalchemy.orm import Session

from engine.audience.service.happenings import RECEIVED
from engine.automations import deciding, entries, holding, run_lifecycle, run_records
from engine.automations.deciding import Decisions
from engine.automations.graph import GraphStep
from engine.automations.hints import hint_steps
from engine.automations.kinds.triggers import TRIGGERS
from engine.automations.kinds.triggers.base import AnyTriggerKind
from engine.automations.models import ACTIVE, PAUSED, Automation, AutomationRevision, AutomationRun
from engine.automations.revisions import graphs
from engine.automations.run_records import Birth
from engine.automations.waking import wake
from engine.core.db import Id, Prepared, among, among_bound, many, table_of
from engine.core.events import NewEvent, RecordedEvent
from engine.core.ids import new_public_ids

CONTACT_DELETED: Final = "contact_deleted"
# The event that starts a run, with its trigger data, by contact.
Chosen = Mapping[int, tuple[RecordedEvent, Any]]


class Live(NamedTuple):
    """An automation that listens, as the fan-out needs it. revision: public id of the frozen one.

    A paused one starts nobody, but says so to whom it would have taken in.
    """

    id: int
    workspace_id: int
    public_id: str
    active: bool
    version: int
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
        decisions = Decisions(workspace_id)
        for automation in _listening(session, workspace_id, batch):
            started.update(_start(session, automation, batch, decisions, at))
        wake(session, workspace_id, [each for each in batch if each.event.kind == RECEIVED], at)
        decisions.write(session, at)
    _cancel_removed(session, events, at)
    return started


def _listening(
    session: Session, workspace_id: int, events: Sequence[RecordedEvent]
) -> Sequence[Live]:
    """Return the live automations that listen to any of these events, oldest first."""
    kinds = {event.event.kind for event in events}
    types = [name for name, kind in TRIGGERS.items() if kind.listens_to in kinds]
    if not types:
        return []
    asked = {"of_workspace": workspace_id, "types": many(session, types)}
    return [Live(*found) for found in _LISTENING.run(session, **asked)]


def _prepare_listening(dialect: str) -> Executable:
    row, frozen = table_of(Automation), table_of(AutomationRevision)
    its = (frozen.c.id == row.c.revision_id) & (frozen.c.workspace_id == row.c.workspace_id)
    return (
        select(
            row.c.id,
            row.c.workspace_id,
            row.c.public_id,
            (row.c.status == ACTIVE).label("active"),
            row.c.version,
            row.c.revision_id,
            frozen.c.public_id.label("revision"),
            row.c.trigger_type,
            row.c.trigger_config,
            row.c.reentry,
            row.c.activated_at,
        )
        .join_from(row, frozen, its)
        .where(
            row.c.workspace_id == bindparam("of_workspace", type_=Id),
            or_(row.c.status == ACTIVE, row.c.status == PAUSED),
            row.c.deleted_at.is_(None),
            row.c.activated_at.is_not(None),
            among_bound(dialect, row.c.trigger_type, "types"),
        )
        .order_by(row.c.id)
    )


_LISTENING: Final = Prepared(_prepare_listening)


def _start(
    session: Session,
    automation: Live,
    events: Sequence[RecordedEvent],
    decisions: Decisions,
    at: datetime,
) -> Counter[int]:
    chosen, early = _matching(automation, events)
    if not automation.active:
        _refuse(decisions, automation, {**early, **chosen}, deciding.NOT_ACTIVE)
        return Counter()
    _refuse(decisions, automation, early, deciding.BEFORE_ACTIVATION)
    if not chosen:
        return Counter()
    graph = graphs(session, {automation.revision_id: automation.revision}).get(
        automation.revision_id
    )
    first = graph.at(0) if graph else None
    if first is None:
        why = deciding.NO_STEPS if graph else deciding.UNREADABLE
        _refuse(decisions, automation, chosen, why)
        return Counter()
    admitted = _admitted(session, automation, chosen, decisions, at)
    return _begin(session, automation, first, admitted, decisions, at) if admitted else Counter()


def _begin(
    session: Session,
    automation: Live,
    first: GraphStep,
    chosen: Chosen,
    decisions: Decisions,
    at: datetime,
) -> Counter[int]:
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
    born = {public_id for _, public_id in made}
    if len(born) < len(rows):
        stayed = [row["contact_id"] for row in rows if row["public_id"] not in born]
        outside = {contact_id: chosen[contact_id] for contact_id in stayed}
        _refuse(decisions, automation, outside, deciding.ALREADY_INSIDE)
    return Counter(row["event_id"] for row in rows if row["public_id"] in born)


def _refuse(
    decisions: Decisions,
    automation: Live,
    people: Chosen,
    reason: str,
    details: Mapping[str, Any] | None = None,
) -> None:
    if people:
        told = ((contact_id, recorded.id) for contact_id, (recorded, _) in people.items())
        decisions.refuse(automation.id, told, reason, details)


def _admitted(
    session: Session, automation: Live, chosen: Chosen, decisions: Decisions, at: datetime
) -> Chosen:
    """Leave out whom the automation's own rule lets in no more (decision A15)."""
    if not entries.limits(automation.reentry):
        return chosen
    place = (automation.workspace_id, automation.id)
    admitted = entries.admit(session, *place, automation.reentry, chosen, at)
    barred = {each: found for each, found in chosen.items() if each not in admitted}
    if isinstance(automation.reentry, Mapping):
        _refuse(decisions, automation, barred, deciding.ENTERED_LATELY, automation.reentry)
    else:
        _refuse(decisions, automation, barred, deciding.ENTERED_BEFORE)
    return {each: found for each, found in chosen.items() if each in admitted}


def _matching(automation: Live, events: Sequence[RecordedEvent]) -> tuple[Chosen, Chosen]:
    """Return the first event that starts a run, with its trigger data, by contact.

    And, of people without one, the first that would have, had it not come before the activation.
    """
    kind: AnyTriggerKind = TRIGGERS.get(automation.trigger_type)
    try:
        config = kind.Config.model_validate(automation.trigger_config)
    except ValidationError:
        return {}, {}  # a broken definition matches nothing and stalls nobody (facts 1.2)
    chosen: dict[int, tuple[RecordedEvent, Any]] = {}
    early: dict[int, tuple[RecordedEvent, Any]] = {}
    for recorded in events:
        event = recorded.event
        if event.kind != kind.listens_to or event.contact_id in chosen:
            continue
        if not kind.matches(config, event) or (kind.addressed and not _means(event, automation)):
            continue
        if event.occurred_at < automation.activated_at:
            # What happened before the activation starts nothing (decision A2).
            early.setdefault(event.contact_id, (recorded, None))
        else:
            chosen[event.contact_id] = (recorded, kind.data(config, event))
    return chosen, {each: found for each, found in early.items() if each not in chosen}


def _means(event: NewEvent, automation: Live) -> bool:
    """Return whether an addressed event is for this automation, as it was activated last."""
    told = (event.data.get("automation"), event.data.get("version"))
    return told == (automation.public_id, automation.version)


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
