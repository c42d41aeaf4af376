"""Reads behind the rules on a mail too many (decision A17): limits, and what people got lately."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Final

from sqlalchemy import String, or_, select
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.core.db import Columns, Id, batch_table
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
    found = session.execute(
        select(
            Workspace.id,
            Workspace.timezone,
            Workspace.mails_per_day,
            Workspace.quiet_from,
            Workspace.quiet_until,
        ).where(Workspace.id.in_(workspace_ids))
    )
    return {
        row.id: LimitsRow(row.timezone, row.mails_per_day, _quiet(row.quiet_from, row.quiet_until))
        for row in found
    }


def recent(session: Session, asked: Sequence[Asked], since: datetime) -> list[RecentRow]:
    """Return what these people were sent since `since`, and the sends of the keys themselves.

    One indexed statement. A mail that failed was not received; one whose outcome nobody knows may
    have been, and counts.
    """
    rows = [
        {"workspace_id": each.workspace_id, "contact_id": each.contact_id, "key": each.dedupe_key}
        for each in asked
    ]
    batch = batch_table(session, _ASKED, rows)
    send = EmailSend
    found = session.execute(
        select(
            send.dedupe_key,
            send.contact_id,
            send.template_id,
            send.queued_at,
            send.status,
            send.error_code,
            send.kind,
            send.purpose,
        )
        .join(
            batch,
            (batch.c.workspace_id == send.workspace_id) & (batch.c.contact_id == send.contact_id),
        )
        .where(or_(send.queued_at > since, send.dedupe_key == batch.c.key))
        .distinct()
    )
    rows_found = []
    for row in found:
        received = row.kind != KIND_TEST and (
            row.status != FAILED or row.error_code == OUTCOME_UNKNOWN
        )
        rows_found.append(
            RecentRow(
                row.dedupe_key,
                row.contact_id,
                row.template_id,
                row.queued_at,
                received,
                received and row.purpose != SERVICE,
            )
        )
    return rows_found


def _quiet(start: str | None, end: str | None) -> tuple[time, time] | None:
    if start is None or end is None or start == end:
        return None
    try:
        return time.fromisoformat(start), time.fromisoformat(end)
    except ValueError:
        # One workspace's broken hours must not stall the batch it shares with others (G4).
        return None
