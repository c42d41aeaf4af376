"""Secrets of a workspace, that outbound calls need."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Executable, bindparam, or_, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import Secret
from engine.core.db import Instant, Prepared, among_bound, many, table_of

# A secret in daily use is not written at every call.
NOTED_EVERY: Final = timedelta(hours=1)


def note_used(session: Session, row_ids: Collection[int], at: datetime) -> None:
    """Note that secrets, by row, were used at `at`; at most once in NOTED_EVERY.

    Waits for nobody: who is just noting the same secret does it for both.
    """
    if row_ids:
        _NOTE_USED.run(session, ids=many(session, row_ids), at=at, stale=at - NOTED_EVERY)


def _prepare_note(dialect: str) -> Executable:
    table = table_of(Secret)
    stale = or_(
        table.c.last_used_at.is_(None),
        table.c.last_used_at <= bindparam("stale", type_=Instant()),
    )
    free = (
        select(table.c.id)
        .where(among_bound(dialect, table.c.id), stale)
        .order_by(table.c.id)
        .with_for_update(skip_locked=True, key_share=True)
        .cte("free")
    )
    return (
        update(table)
        .where(table.c.id.in_(select(free.c.id)))
        .values(last_used_at=bindparam("at", type_=Instant()))
    )


_NOTE_USED: Final = Prepared(_prepare_note)
