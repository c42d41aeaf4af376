"""How much waits for people in a workspace, for the navigation of every page: one statement."""

from dataclasses import dataclass

from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from engine.accounts.approval_rows import pending_number
from engine.automations.queries.attention import cause_number


@dataclass(frozen=True)
class Waiting:
    """causes: of failed runs that ask for attention; requests: that wait for a decision."""

    causes: int
    requests: int


def waiting(session: Session, workspace_id: int, *, decides: bool) -> Waiting:
    """Return what waits; decides: whether requests are the reader's business, else 0 of them."""
    causes = cause_number(workspace_id).scalar_subquery()
    requests = pending_number(workspace_id).scalar_subquery() if decides else literal(0)
    return Waiting(*session.execute(select(causes, requests)).one())
