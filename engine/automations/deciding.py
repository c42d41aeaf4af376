"""What triggers said to people who did not get in, and why; one INSERT a batch of events.

Who got in is told by the run itself, which names its event: the usual fan-out writes nothing more.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Executable,
    String,
    bindparam,
    case,
    exists,
    insert,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from engine.automations import run_lifecycle
from engine.automations.models import (
    ACTIVE,
    REFUSED,
    RUNNING,
    Automation,
    AutomationRun,
    TriggerDecision,
)
from engine.core.db import (
    Columns,
    Id,
    Instant,
    JsonObject,
    Prepared,
    json_type,
    packed,
    rows_table,
    table_of,
)

# Why somebody whom a trigger matched did not get in.
NOT_ACTIVE: Final = "not_active"
BEFORE_ACTIVATION: Final = "before_activation"
UNREADABLE: Final = "unreadable"
NO_STEPS: Final = "no_steps"
ALREADY_INSIDE: Final = "already_inside"
ENTERED_BEFORE: Final = "entered_before"
ENTERED_LATELY: Final = "entered_lately"
REASONS: Final = (
    NOT_ACTIVE,
    BEFORE_ACTIVATION,
    UNREADABLE,
    NO_STEPS,
    ALREADY_INSIDE,
    ENTERED_BEFORE,
    ENTERED_LATELY,
)


class Decisions:
    """What the automations of one workspace refused for a batch of events."""

    def __init__(self, workspace_id: int) -> None:
        self._workspace_id = workspace_id
        self._rows: list[JsonObject] = []

    def refuse(
        self,
        automation_id: int,
        people: Iterable[tuple[int, int]],
        reason: str,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Add people who did not get in, as (contact, event), for one of REASONS."""
        same = {"automation_id": automation_id, "reason": reason, "details": details}
        self._rows += [
            {**same, "contact_id": contact_id, "event_id": event_id}
            for contact_id, event_id in people
        ]

    def write(self, session: Session, at: datetime) -> None:
        """Write what was refused; nothing where nobody was."""
        if self._rows:
            rows = packed(session, self._rows)
            _WRITE.run(session, of_workspace=self._workspace_id, rows=rows, at=at)


def _prepare(dialect: str) -> Executable:
    """The version is read here, and so is what may have changed since the look at the automation.

    Who is refused a second entry while being inside is told that; and where somebody paused in the
    meantime nobody was made, which is why, and not who else is inside.
    """
    columns: Columns = {
        "automation_id": Id,
        "contact_id": Id,
        "event_id": Id,
        "reason": String(),
        "details": json_type(),
    }
    rows, owner, run = rows_table(dialect, columns), table_of(Automation).c, table_of(AutomationRun)
    workspace_id = bindparam("of_workspace", type_=Id)
    inside = exists().where(
        run.c.automation_id == rows.c.automation_id,
        run.c.contact_id == rows.c.contact_id,
        run_lifecycle.RUNS.at(RUNNING),
    )
    by_entry = or_(rows.c.reason == ENTERED_BEFORE, rows.c.reason == ENTERED_LATELY)
    reason = case(
        ((rows.c.reason == ALREADY_INSIDE) & (owner.status != ACTIVE), NOT_ACTIVE),
        (by_entry & inside, ALREADY_INSIDE),
        else_=rows.c.reason,
    )
    values = {
        "workspace_id": workspace_id,
        "automation_id": rows.c.automation_id,
        "automation_version": owner.version,
        "contact_id": rows.c.contact_id,
        "event_id": rows.c.event_id,
        "decision": literal(REFUSED),
        "reason": reason,
        "details": rows.c.details,
        "decided_at": bindparam("at", type_=Instant()),
    }
    chosen = select(*values.values()).join_from(
        rows,
        owner.id.table,
        (owner.id == rows.c.automation_id) & (owner.workspace_id == workspace_id),
    )
    return insert(table_of(TriggerDecision)).from_select(list(values), chosen)


_WRITE: Final = Prepared(_prepare)
