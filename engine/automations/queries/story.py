"""A person's lines from automations: entered, ended."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.queries import StoryLine, StoryPlace
from engine.audience.queries.story import earlier
from engine.automations.models import RUNNING, Automation, AutomationRun

ENTERED = "run"
ENDED = "run_ended"


def story(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    before: StoryPlace | None = None,
    limit: int = 50,
) -> list[StoryLine]:
    """Return when the person entered and left automations, newest first.

    title_code: run_started, or run_completed / run_cancelled; params: automation, reason.
    """
    lines = [
        *_lines(session, workspace_id, contact_row_id, ENTERED, before, limit),
        *_lines(session, workspace_id, contact_row_id, ENDED, before, limit),
    ]
    return sorted(lines, key=lambda line: line.place, reverse=True)[:limit]


def _lines(
    session: Session,
    workspace_id: int,
    contact_row_id: int,
    strand: str,
    before: StoryPlace | None,
    limit: int,
) -> list[StoryLine]:
    run = AutomationRun
    instant = run.started_at if strand == ENTERED else run.completed_at
    query = (
        select(run.id, run.public_id, run.status, run.ended_reason, instant, Automation.name)
        .join(Automation, Automation.id == run.automation_id)
        .where(
            run.workspace_id == workspace_id,
            run.contact_id == contact_row_id,
            earlier(instant, run.id, strand, before),
        )
        .order_by(instant.desc(), run.id.desc())
        .limit(limit)
    )
    if strand == ENDED:
        query = query.where(run.status != RUNNING)
    return [
        StoryLine(
            at=at,
            kind=strand,
            title_code="run_started" if strand == ENTERED else f"run_{status}",
            params={"automation": name, **({"reason": reason} if reason else {})},
            ref=public_id,
            row_id=row_id,
        )
        for row_id, public_id, status, reason, at, name in session.execute(query)
        if at is not None
    ]
