"""Where automations meet other rooms' rows: people by runs, mails by run, names by public id."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.models import RUNNING, Automation, AutomationRun, AutomationStepRun
from engine.delivery.models import EmailSend


@dataclass(frozen=True)
class RunOfSend:
    """The run that a mail came from; public ids."""

    run_id: str
    automation_id: str
    automation_name: str


def runs_inside(
    session: Session, workspace_id: int, contact_row_ids: Collection[int]
) -> Mapping[int, int]:
    """Return how many automations people are in, by contact row; 0 is left out."""
    run = AutomationRun
    found = session.execute(
        select(run.contact_id, func.count())
        .where(
            run.workspace_id == workspace_id,
            run.contact_id.in_(contact_row_ids),
            run.status == RUNNING,
        )
        .group_by(run.contact_id)
    )
    return {contact: count for contact, count in found}  # noqa: C416 - rows, not pairs


def runs_of_sends(
    session: Session, workspace_id: int, send_row_ids: Collection[int]
) -> Mapping[int, RunOfSend]:
    """Return the runs that some mails came from, by send row; other mails are left out.

    Goes by the person: their runs are few and indexed, step runs by send are not.
    """
    run, step, send = AutomationRun, AutomationStepRun, EmailSend
    found = session.execute(
        select(send.id, run.public_id, Automation.public_id, Automation.name)
        .join(run, (run.contact_id == send.contact_id) & (run.workspace_id == send.workspace_id))
        .join(step, (step.automation_run_id == run.id) & (step.email_send_id == send.id))
        .join(Automation, Automation.id == run.automation_id)
        .where(send.workspace_id == workspace_id, send.id.in_(send_row_ids))
    )
    return {row_id: RunOfSend(*rest) for row_id, *rest in found}


def automation_names(
    session: Session, workspace_id: int, public_ids: Collection[str]
) -> Mapping[str, str]:
    """Return the names of automations by public id, deleted ones included; others are left out."""
    row = Automation
    found = session.execute(
        select(row.public_id, row.name).where(
            row.workspace_id == workspace_id, row.public_id.in_(public_ids)
        )
    )
    return {public_id: name for public_id, name in found}  # noqa: C416 - rows, not pairs
