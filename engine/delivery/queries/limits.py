"""Reads behind the rules on a mail too many (decision A17): limits, and what people got lately."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any, Final

from sqlalchemy import Executable, String, bindparam, select, union
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    among_bound,
    many,
    packed,
    rows_table,
    scope_of,
    table_of,
    within_scope,
)
from engine.delivery.models import FAILED, SERVICE, EmailSend
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN

KIND_TEST: Final = "test"
_ASKED: Final[Columns] = {"workspace_id": Id, "contact_id": Id, "key": String()}


@dataclass(frozen=True)
class LimitsRow:
    """What a workspace allows. mails_per_day None: any number; quiet None: no quiet hours.

    quiet: from and until, in the person's zone; until before from spans midnight.
    """

    timezone: str
    mails_per_day: int | None
    quiet: tuple[time, time] | None


@dataclass(frozen=True)
class RecentRow:
    """A mail a person got or is about to get. counts: towards the limits, as marketing does."""

    dedupe_key: str
    contact_id: int
    template_id: int | None
    queued_at: datetime
    received: bool
    counts: bool


@dataclass(frozen=True)
class Asked:
    """One request, as the recent mail is asked for it."""

    workspace_id: int
    contact_id: int
    dedupe_key: str


def limits(session: Session, workspace_ids: Collection[int]) -> Mapping[int, LimitsRow]:
    """Return the limits of workspaces by row id, in one statement."""
    found = _LIMITS.run(session, ids=many(session, workspace_ids)).all()
    return {
        row.id: LimitsRow(row.timezone, row.mails_per_day, _quiet(row.quiet_from, row.quiet_until))
        for row in found
    }


def _prepare_limits(dialect: str) -> Executable:
    row = table_of(Workspace).c
    return select(row.id, row.timezone, row.mails_per_day, row.quiet_from, row.quiet_until).where(
        among_bound(dialect, row.id)
    )


_LIMITS: Final = Prepared(_prepare_limits)


def recent(session: Session, asked: Sequence[Asked], since: datetime) -> list[RecentRow]:
    """Return what these people were sent since `since`, and the sends of the keys themselves.

    One statement, each half by an index of its own. A mail that failed was not received; one whose
    outcome nobody knows may have been, and counts.
    """
    rows = [
        {"workspace_id": each.workspace_id, "contact_id": each.contact_id, "key": each.dedupe_key}
        for each in asked
    ]
    found = _RECENT.run(
        session, rows=packed(session, rows), since=since, scope=scope_of(session)
    ).all()
    return [_recent(row) for row in found]


def _recent(row: Any) -> RecentRow:
    received = row.kind != KIND_TEST and (row.status != FAILED or row.error_code == OUTCOME_UNKNOWN)
    counts = received and row.purpose != SERVICE
    return RecentRow(
        row.dedupe_key, row.contact_id, row.template_id, row.queued_at, received, counts
    )


def _prepare_recent(dialect: str) -> Executable:
    send = table_of(EmailSend)
    rows = rows_table(dialect, _ASKED)
    names = ("dedupe_key", "contact_id", "template_id", "queued_at")
    shown = [send.c[name] for name in (*names, "status", "error_code", "kind", "purpose")]
    of_person = (rows.c.workspace_id == send.c.workspace_id) & (
        rows.c.contact_id == send.c.contact_id
    )
    of_key = (rows.c.workspace_id == send.c.workspace_id) & (rows.c.key == send.c.dedupe_key)
    since = bindparam("since", type_=Instant())
    mine = within_scope(send.c.workspace_id)
    lately = select(*shown).join_from(send, rows, of_person).where(send.c.queued_at > since, mine)
    named = select(*shown).join_from(send, rows, of_key)
    return union(lately, named.where(send.c.contact_id == rows.c.contact_id, mine))


_RECENT: Final = Prepared(_prepare_recent)


def _quiet(start: str | None, end: str | None) -> tuple[time, time] | None:
    if start is None or end is None or start == end:
        return None
    try:
        return time.fromisoformat(start), time.fromisoformat(end)
    except ValueError:
        # One workspace's broken hours must not stall the batch it shares with others (G4).
        return None
