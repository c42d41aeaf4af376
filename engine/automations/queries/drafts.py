"""The history of a draft, for the buttons that undo and redo."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.models import Automation, DraftState
from engine.automations.service import Act


@dataclass(frozen=True)
class History:
    """What can be undone and redone, as acts; None: nothing. by, at: of the state that stands."""

    undo: Act | None = None
    redo: Act | None = None
    by: str | None = None
    at: datetime | None = None


def history(session: Session, workspace_id: int, automation_id: int) -> History:
    """Return what undo and redo would do to the draft of an automation (row id); one statement."""
    row, state = Automation, DraftState
    found = session.execute(
        select(
            state.place - row.draft_place,
            state.act,
            state.params,
            state.created_by,
            state.created_at,
        )
        .join(row, (row.id == state.automation_id) & (row.workspace_id == state.workspace_id))
        .where(
            state.workspace_id == workspace_id,
            state.automation_id == automation_id,
            state.place.between(row.draft_place - 1, row.draft_place + 1),
        )
    )
    near = {offset: (Act(act, params), by, at) for offset, act, params, by, at in found}
    if 0 not in near:
        return History()
    act, by, at = near[0]
    redo = near[1][0] if 1 in near else None
    return History(act if -1 in near else None, redo, by, at)


def deleted_by(
    session: Session, workspace_id: int, automation_id: int, key: str
) -> tuple[str, datetime] | None:
    """Return who deleted a step from the draft, as actor, and when; None where no state says so.

    Reads the newest states that deleted something, as many as are kept.
    """
    state = DraftState
    found = session.execute(
        select(state.params, state.created_by, state.created_at)
        .where(
            state.workspace_id == workspace_id,
            state.automation_id == automation_id,
            state.act == "delete",
        )
        .order_by(state.place.desc())
    )
    return next(((by, at) for params, by, at in found if params.get("step") == key), None)
