"""Erases what happened to sample people and in sample automations: runs, mails, events, rows.

Sample content leaves no trace behind but its two lines in the audit log. Real people and the mails
they got stay; only their runs through a sample automation go with it.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session

from engine.accounts.models import Approval
from engine.audience.models import Contact, ContactPropertyValue, TopicMembership
from engine.audience.service import marks
from engine.automations import counters
from engine.automations.models import (
    Automation,
    AutomationEntry,
    AutomationRevision,
    AutomationRun,
    AutomationStatShard,
    AutomationStep,
    AutomationStepRun,
    AutomationStepStat,
    DraftState,
    FiredLedger,
    RunMove,
    ScanState,
    TriggerDecision,
)
from engine.automations.service.finding import RESOURCE
from engine.core.events import Event
from engine.delivery.models import EmailSend, SentMessage


def erase(
    session: Session, workspace_id: int, contacts: Collection[str], automations: Collection[str]
) -> None:
    """Delete the rows of sample contacts and automations, given by public id, children first."""
    people = _row_ids(Contact, workspace_id, contacts)
    plans = _row_ids(Automation, workspace_id, automations)
    run, send, entry = AutomationRun, EmailSend, AutomationEntry
    decision = TriggerDecision
    runs = select(run.id).where(
        run.workspace_id == workspace_id,
        or_(run.contact_id.in_(people), run.automation_id.in_(plans)),
    )
    sends = select(send.id).where(send.workspace_id == workspace_id, send.contact_id.in_(people))
    counters.forget(session, set(session.scalars(plans)))
    addresses = select(Contact.email).where(
        Contact.workspace_id == workspace_id, Contact.id.in_(people), Contact.email.is_not(None)
    )
    marks.unmark(session, workspace_id, {email for email in session.scalars(addresses) if email})
    doomed: list[tuple[Any, ColumnElement[bool]]] = [
        (RunMove, RunMove.automation_run_id.in_(runs)),
        (AutomationStepRun, AutomationStepRun.automation_run_id.in_(runs)),
        (run, run.id.in_(runs)),
        (decision, or_(decision.contact_id.in_(people), decision.automation_id.in_(plans))),
        (entry, or_(entry.contact_id.in_(people), entry.automation_id.in_(plans))),
        (SentMessage, SentMessage.send_id.in_(sends)),
        (send, send.contact_id.in_(people)),
        (Event, Event.contact_id.in_(people)),
        (TopicMembership, TopicMembership.contact_id.in_(people)),
        (ContactPropertyValue, ContactPropertyValue.contact_id.in_(people)),
        (Contact, Contact.id.in_(people)),
        (Approval, (Approval.resource == RESOURCE) & Approval.resource_id.in_(automations)),
        (AutomationStatShard, AutomationStatShard.automation_id.in_(plans)),
        (AutomationStepStat, AutomationStepStat.automation_id.in_(plans)),
        (FiredLedger, FiredLedger.automation_id.in_(plans)),
        (ScanState, ScanState.automation_id.in_(plans)),
        (DraftState, DraftState.automation_id.in_(plans)),
        (AutomationStep, AutomationStep.automation_id.in_(plans)),
        (AutomationRevision, AutomationRevision.automation_id.in_(plans)),
        (Automation, Automation.id.in_(plans)),
    ]
    for row, where in doomed:
        session.execute(
            delete(row)
            .where(row.workspace_id == workspace_id, where)
            .execution_options(synchronize_session=False)
        )


def _row_ids(row: Any, workspace_id: int, public_ids: Collection[str]) -> Any:
    return select(row.id).where(row.workspace_id == workspace_id, row.public_id.in_(public_ids))
