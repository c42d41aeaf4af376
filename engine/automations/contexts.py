"""What stands around a step run at the moment of its claim: run, automation, person, graph."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Executable, and_, select
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.automations.graph import Graph
from engine.automations.models import (
    ACTIVE,
    HOLD,
    PAUSED,
    RUNNING,
    Automation,
    AutomationRevision,
    AutomationRun,
)
from engine.automations.revisions import graphs
from engine.core.db import Prepared, among_bound, many, table_of


class Context(NamedTuple):
    """What stands around a step run at the moment of its claim. run: a row of `load_context`."""

    run: Any
    graph: Graph | None

    @property
    def held(self) -> bool:
        """Return whether due steps have to wait for the resume."""
        run = self.run
        return (
            run.automation_status == PAUSED
            and run.on_pause == HOLD
            and not run.automation_deleted
            and not run.contact_deleted
            and run.status == RUNNING
        )


def load_context(session: Session, rows: Sequence[Any]) -> Mapping[int, Context]:
    """Return what stands around claimed step runs, by run id; one statement."""
    wanted = {row.automation_run_id for row in rows}
    found = _CONTEXT.run(session, ids=many(session, wanted)).all()
    named = {run.revision_id: run.revision for run in found if run.revision is not None}
    known = graphs(session, named)
    return {run.id: Context(run, known.get(run.revision_id)) for run in found}


def _prepare_context(dialect: str) -> Executable:
    run, automation = table_of(AutomationRun), table_of(Automation)
    contact, revision = table_of(Contact), table_of(AutomationRevision)
    # Most steps may run: one answer for all that the verdict would ask one by one.
    clear = and_(
        run.c.status == RUNNING,
        automation.c.status == ACTIVE,
        automation.c.deleted_at.is_(None),
        contact.c.deleted_at.is_(None),
    )
    return (
        select(
            run.c.id,
            run.c.public_id,
            run.c.status,
            run.c.workspace_id,
            run.c.automation_id,
            run.c.revision_id,
            revision.c.public_id.label("revision"),
            run.c.contact_id,
            run.c.trigger_data,
            run.c.steps_executed,
            contact.c.public_id.label("person"),
            automation.c.public_id.label("automation"),
            contact.c.deleted_at.is_not(None).label("contact_deleted"),
            automation.c.status.label("automation_status"),
            automation.c.on_pause,
            automation.c.deleted_at.is_not(None).label("automation_deleted"),
            clear.label("clear"),
        )
        .join_from(run, automation, automation.c.id == run.c.automation_id)
        .outerjoin(revision, revision.c.id == run.c.revision_id)
        .join(contact, contact.c.id == run.c.contact_id)
        .where(among_bound(dialect, run.c.id))
    )


_CONTEXT: Final = Prepared(_prepare_context)
