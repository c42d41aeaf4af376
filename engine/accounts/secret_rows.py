"""The reads of secrets: lists for people, and sealed values for the steps that need them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Secret


@dataclass(frozen=True)
class SecretLine:
    """A secret as people see it. hint: its last characters; created_by: an actor."""

    public_id: str
    name: str
    kind: str
    hint: str
    created_by: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class SealedSecret:
    """A secret as a step needs it; `crypto.unseal` with the purpose of secrets opens it."""

    row_id: int
    kind: str
    sealed: str


def list_secrets(session: Session, workspace_id: int, limit: int = 200) -> list[SecretLine]:
    """Return the secrets of a workspace by name, at most `limit`."""
    row = Secret
    found = session.execute(
        select(
            row.public_id,
            row.name,
            row.kind,
            row.hint,
            row.created_by,
            row.created_at,
            row.last_used_at,
        )
        .where(row.workspace_id == workspace_id)
        .order_by(row.name, row.id)
        .limit(limit)
    )
    return [SecretLine(*each) for each in found]


def kinds_of(
    session: Session, workspace_id: int, public_ids: Collection[str]
) -> Mapping[str, tuple[str, str]]:
    """Return name and kind of those secrets that are here, by public id."""
    if not public_ids:
        return {}
    row = Secret
    found = session.execute(
        select(row.public_id, row.name, row.kind).where(
            row.workspace_id == workspace_id, row.public_id.in_(public_ids)
        )
    )
    return {public_id: (name, kind) for public_id, name, kind in found}


def sealed(
    session: Session, wanted: Collection[tuple[int, str]]
) -> Mapping[tuple[int, str], SealedSecret]:
    """Return sealed secrets by (workspace, public id); one statement."""
    if not wanted:
        return {}
    row = Secret
    found = session.execute(
        select(row.workspace_id, row.public_id, row.id, row.kind, row.sealed).where(
            row.workspace_id.in_({workspace for workspace, _id in wanted}),
            row.public_id.in_({public_id for _workspace, public_id in wanted}),
        )
    )
    return {(each[0], each[1]): SealedSecret(*each[2:]) for each in found}
