"""Automations for tests: documents in few words, live automations, runs under way."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience.queries import ContactRow
from engine.automations import service
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.core import audit, events
from engine.core.outcome import Transitioned

ACTOR = audit.Actor("user:test")


def delay(key: str, duration: float = 1, unit: str = "days", **more: Any) -> dict[str, Any]:
    """Return a delay step."""
    return {"key": key, "type": "delay", "config": {"duration": duration, "unit": unit}, **more}


def branch(key: str, yes: str | None = None, no: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a condition step on the first name being Ada."""
    condition = {
        "kind": "contact_property",
        "field": "first_name",
        "operator": "equals",
        "value": "Ada",
    }
    config = {"condition": condition, "yes": yes, "no": no}
    return {"key": key, "type": "condition", "config": config, **more}


def end(key: str) -> dict[str, Any]:
    """Return an end step."""
    return {"key": key, "type": "end", "config": {}}


def email(key: str, template_id: str | None, **more: Any) -> dict[str, Any]:
    """Return an email step."""
    return {"key": key, "type": "email", "config": {"template_id": template_id}, **more}


def document(*steps: dict[str, Any], name: str = "Welcome", **more: Any) -> dict[str, Any]:
    """Return a document that an event named `go` starts; `more` overrides its parts."""
    return {
        "name": name,
        "trigger": {"type": "event_received", "config": {"event_name": "go"}},
        "steps": list(steps),
        **more,
    }


def live(session: Session, workspace_id: int, raw: dict[str, Any], at: datetime) -> Automation:
    """Return an automation that has been created and activated."""
    saved = service.create(session, workspace_id, raw, ACTOR, at)
    assert isinstance(saved, service.Saved), saved
    wish = service.Wish("active")
    moved = service.move(session, workspace_id, saved.public_id, wish, ACTOR, at)
    assert isinstance(moved, Transitioned), moved
    row = service.find(session, workspace_id, saved.public_id)
    assert row is not None
    return row


def fire(
    session: Session,
    workspace_id: int,
    contacts: Sequence[ContactRow],
    at: datetime,
    name: str = "go",
    occurred_at: datetime | None = None,
    **data: Any,
) -> int:
    """Record one event a contact and return how many runs it started."""
    batch = [
        events.NewEvent(
            workspace_id,
            contact.row_id,
            "event_received",
            "api",
            occurred_at or at,
            name,
            {"event_properties": data} if data else {},
        )
        for contact in contacts
    ]
    return events.record(session, batch, at).started.total()


def runs(session: Session, automation: Automation) -> Sequence[AutomationRun]:
    """Return the runs of an automation, oldest first, as they stand in the database."""
    return session.scalars(
        select(AutomationRun)
        .where(AutomationRun.automation_id == automation.id)
        .order_by(AutomationRun.id)
        .execution_options(populate_existing=True)
    ).all()


def visits(session: Session, run: AutomationRun) -> Sequence[AutomationStepRun]:
    """Return the visits of a run, oldest first, as they stand in the database."""
    return session.scalars(
        select(AutomationStepRun)
        .where(AutomationStepRun.automation_run_id == run.id)
        .order_by(AutomationStepRun.id)
        .execution_options(populate_existing=True)
    ).all()
