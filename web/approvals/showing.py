"""What the pages of requests show: lines of the list, and what granting one would do."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from markupsafe import escape
from sqlalchemy.orm import Session

from engine.accounts import trail
from engine.accounts.approval_rows import ApprovalRow
from engine.automations import queries, service
from engine.automations.comparing import compare
from engine.automations.document import digest
from engine.automations.models import DRAFT
from engine.automations.queries import AutomationDetail
from engine.automations.service import STAY
from engine.automations.service.requesting import PUBLISH
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web.audit.messages import who
from web.automations import asked, reading
from web.automations import prospect as of_automation
from web.automations.differences import lines as differing
from web.filters import when

# What stands in force before the first activation: nothing.
_NOTHING: Final[JsonObject] = {"steps": []}


@dataclass(frozen=True)
class Line:
    """A request in words. kind: activate or publish; name: of the automation, which may be gone.

    by, decided_by: people in words; mine: the reader asked it.
    """

    row: ApprovalRow
    kind: str
    name: str
    by: str
    decided_by: str
    mine: bool

    @property
    def moves(self) -> bool:
        """Return whether it asks to take the people inside along."""
        return bool(self.row.wanted.get("people_inside", STAY) != STAY)

    @property
    def ended_by_other(self) -> bool:
        """Return whether somebody else than the asker ended it without a decision."""
        return self.row.status == "withdrawn" and self.row.decided_by != self.row.asked_by


def lines(
    session: Session, workspace_id: int, rows: Sequence[ApprovalRow], reader: str
) -> list[Line]:
    """Return requests in words; a bounded number of statements. reader: an actor."""
    things = {row.resource_id for row in rows}
    names = queries.automation_names(session, workspace_id, things) if rows else {}
    people = _people(session, workspace_id, rows)
    return [
        Line(
            row,
            asked.KINDS.get(row.kind, row.kind),
            names.get(row.resource_id, row.resource_id),
            who(row.asked_by, people),
            "" if row.decided_by is None else who(row.decided_by, people),
            row.asked_by == reader,
        )
        for row in rows
    ]


def at_words(value: datetime | None) -> str:
    """Return an instant in words alone, for a sentence that is no markup."""
    return str(escape(when(value)).striptags())


def prospect(
    session: Session, workspace_id: int, found: AutomationDetail, line: Line, at: datetime
) -> dict[str, Any]:
    """Return what granting the request at `at` would do: what changes, whom it meets, problems.

    fits: whether the automation is still in a state for it; changed: the draft is another one.
    """
    row = found.row
    context = {
        **of_automation.of_draft(session, workspace_id, found),
        "changed": digest(found.draft) != line.row.content_hash,
        "fits": (row.status == DRAFT) == (line.row.kind != PUBLISH),
    }
    if line.row.kind != PUBLISH:
        return {**context, **_first(session, workspace_id, found)}
    preview = service.preview_publish(session, workspace_id, row.public_id, at)
    if isinstance(preview, Refused):
        return {**context, "preview": None, "lines": (), "values": (), "standing": ()}
    return {**context, **of_automation.of_publish(session, workspace_id, found, preview)}


def _first(session: Session, workspace_id: int, found: AutomationDetail) -> dict[str, Any]:
    """Return what a first activation puts in force: its start, and every step as an added one."""
    told = reading.tell(session, workspace_id, found.draft, found.names)
    titles = {step.key: told.title(step) for step in told.graph.steps} if told else {}
    return {
        "preview": None,
        "starts": told.trigger() if told else found.row.trigger_type,
        "lines": differing(compare(_NOTHING, found.draft), {}, titles),
        "values": (),
        "standing": (),
    }


def _people(
    session: Session, workspace_id: int, rows: Collection[ApprovalRow]
) -> Mapping[str, str]:
    actors = {row.asked_by for row in rows} | {row.decided_by for row in rows if row.decided_by}
    return trail.names(session, workspace_id, actors)
