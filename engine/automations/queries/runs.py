"""Reads of runs: the list with its filters, and one run with every visit to a step."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.models import (
    EXECUTING,
    PAUSED,
    PENDING,
    SKIPPED,
    Automation,
    AutomationRevision,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.queries.run_filters import page_ids
from engine.automations.queries.run_moves import Pin, revisions_of
from engine.automations.queries.run_rows import RunDetail, RunFilter, RunRow, StepRunRow
from engine.automations.run_lifecycle import RUN_ENDED, tries
from engine.core.events import Event
from engine.core.ids import is_public_id


def page_runs(
    session: Session,
    workspace_id: int,
    wanted: RunFilter,
    after: str | None = None,
    limit: int = 50,
) -> tuple[list[RunRow], str | None]:
    """Return a page of runs, newest first, and the cursor of the next page.

    A page may be short and have a next one: see `run_filters`.
    """
    ids, following = page_ids(session, workspace_id, wanted, after, limit)
    if not ids:
        return [], following
    query = _rows(workspace_id).where(AutomationRun.id.in_(ids)).order_by(AutomationRun.id.desc())
    found = session.execute(query).all()
    latest = _latest(session, workspace_id, ids)
    return [_row(row, latest.get(row.id)) for row in found], following


def get_run(session: Session, workspace_id: int, public_id: str) -> RunDetail | None:
    """Return one run with its visits, or None when unknown or foreign."""
    if not is_public_id(public_id):
        return None
    query = _rows(workspace_id).where(AutomationRun.public_id == public_id)
    found = session.execute(query).first()
    if found is None:
        return None
    pin = Pin(found.id, found.started_at, found.revision_id, found.revised_at)
    gone_by = revisions_of(session, workspace_id, pin)
    visits = gone_by.visits
    latest = next((visit for visit in reversed(visits) if visit.status != SKIPPED), None)
    return RunDetail(
        _row(found, latest),
        gone_by.documents.get(found.number, {}),
        tuple(
            _visit(public_id, place, row, gone_by.numbers[row.id])
            for place, row in enumerate(visits, 1)
        ),
        gone_by.first,
        gone_by.moves,
        found.attention_at,
        gone_by.documents,
    )


def _rows(workspace_id: int) -> Select[*tuple[Any, ...]]:
    run = AutomationRun
    return (
        select(
            run.id,
            run.public_id,
            Automation.public_id.label("automation_id"),
            Automation.name.label("automation_name"),
            case((Automation.status == PAUSED, Automation.on_pause)).label("paused"),
            Contact.public_id.label("contact_id"),
            Contact.email,
            Contact.first_name,
            Contact.last_name,
            Contact.external_id,
            run.contact_id.label("contact_row_id"),
            run.status,
            run.ended_reason,
            AutomationRevision.number,
            AutomationRevision.created_at.label("revised_at"),
            run.revision_id,
            run.triggered_by,
            run.trigger_data,
            Event.public_id.label("event_id"),
            run.current_step_index,
            run.steps_executed,
            run.started_at,
            run.completed_at,
            run.attention_at,
        )
        .join(Automation, Automation.id == run.automation_id)
        .join(Contact, Contact.id == run.contact_id)
        .join(AutomationRevision, AutomationRevision.id == run.revision_id)
        .outerjoin(Event, Event.id == run.event_id)
        .where(run.workspace_id == workspace_id)
    )


def _latest(
    session: Session, workspace_id: int, run_ids: Sequence[int]
) -> Mapping[int, AutomationStepRun]:
    """Return the newest visit that was not skipped, by run."""
    step = AutomationStepRun
    newest = (
        select(func.max(step.id))
        .where(
            step.workspace_id == workspace_id,
            step.automation_run_id.in_(run_ids),
            step.status != SKIPPED,
        )
        .group_by(step.automation_run_id)
    )
    rows = session.scalars(
        select(step).where(step.workspace_id == workspace_id, step.id.in_(newest))
    )
    return {row.automation_run_id: row for row in rows}


def _row(found: Any, latest: AutomationStepRun | None) -> RunRow:
    name = " ".join(part for part in (found.first_name, found.last_name) if part)
    under_way = latest is not None and latest.status in (PENDING, EXECUTING)
    # A wait that was cut short with its run is no error that anybody has to look at.
    failed = latest is not None and latest.error_code != RUN_ENDED
    return RunRow(
        row_id=found.id,
        public_id=found.public_id,
        automation_id=found.automation_id,
        automation_name=found.automation_name,
        contact_id=found.contact_id,
        contact_email=found.email,
        contact_name=name or found.email or found.external_id or found.contact_id,
        contact_row_id=found.contact_row_id,
        status=found.status,
        ended_reason=found.ended_reason,
        revision=found.number,
        revision_row_id=found.revision_id,
        triggered_by=found.triggered_by,
        trigger_data=found.trigger_data,
        event_id=found.event_id,
        current_step_index=found.current_step_index,
        steps_executed=found.steps_executed,
        started_at=found.started_at,
        completed_at=found.completed_at,
        step_key=latest.step_key if latest else None,
        step_type=latest.step_type if latest else None,
        due_at=latest.due_at if latest and under_way else None,
        error_code=latest.error_code if latest and failed else None,
        error_message=latest.error_message if latest and failed else None,
        paused=found.paused,
        held_at=latest.held_at if latest and under_way else None,
    )


def _visit(run_id: str, place: int, row: AutomationStepRun, revision: int) -> StepRunRow:
    return StepRunRow(
        id=f"{run_id}.{place}",
        step_index=row.step_index,
        step_key=row.step_key,
        step_type=row.step_type,
        status=row.status,
        attempt=tries(row.attempt),
        scheduled_at=row.scheduled_at,
        delay_until=row.delay_until,
        due_at=row.due_at,
        started_at=row.started_at,
        completed_at=row.completed_at,
        email_send_row_id=row.email_send_id,
        result=row.result,
        failures=tuple(row.failures or ()),
        error_code=row.error_code,
        error_message=row.error_message,
        revision=revision,
        held_at=row.held_at,
    )
