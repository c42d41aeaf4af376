"""Requests that wait, as an automation's pages tell them: who asked for what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from engine.accounts import approval_rows, trail
from engine.accounts.approval_rows import ApprovalRow
from engine.automations.document import digest
from engine.automations.queries import AutomationDetail
from engine.automations.service.finding import RESOURCE
from engine.automations.service.requesting import ACTIVATE, PUBLISH
from web.audit.messages import who

KINDS: Final[Mapping[str, str]] = {ACTIVATE: "activate", PUBLISH: "publish"}


@dataclass(frozen=True)
class Asked:
    """A request that waits. kind: activate or publish; by: the asker in words.

    mine: the reader asked it; changed: the draft is another one since, so that nobody can grant it.
    """

    row: ApprovalRow
    kind: str
    by: str
    mine: bool
    changed: bool


def waiting(
    session: Session, workspace_id: int, found: AutomationDetail, reader: str
) -> Sequence[Asked]:
    """Return the requests about an automation that wait for a decision; reader: an actor.

    One statement, and two more for names where there are any.
    """
    rows = approval_rows.pending_of(session, workspace_id, RESOURCE, found.row.public_id)
    if not rows:
        return ()
    names = trail.names(session, workspace_id, {row.asked_by for row in rows})
    content = digest(found.draft)
    return [
        Asked(
            row,
            KINDS.get(row.kind, row.kind),
            who(row.asked_by, names),
            row.asked_by == reader,
            row.content_hash != content,
        )
        for row in rows
    ]
