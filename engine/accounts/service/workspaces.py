"""What a workspace sets for itself, and its suspension by the operator (decisions A17, C5)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.accounts.queries import WorkspaceSettings, workspace_settings
from engine.core import audit
from engine.core.outcome import Problem, Recorded, Refused, Transitioned

MOST_MAILS_PER_DAY: Final = 1000
SHORTEST_RETENTION: Final = 7
LONGEST_RETENTION: Final = 3650
LANGUAGES: Final = ("en", "de")
ACTIVE: Final = "active"
SUSPENDED: Final = "suspended"
_HOUR: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)


@dataclass(frozen=True)
class Limits:
    """What people may set. mails_per_day: most marketing mails a person gets on one of their days.

    quiet_from, quiet_until: hours without marketing mail as HH:MM in the person's zone, both or
    none; they may pass midnight. retention_days: see `engine.pruning`. timezone: IANA name.
    """

    mails_per_day: int | None
    quiet_from: str | None
    quiet_until: str | None
    retention_days: int
    timezone: str
    language: str


def update_limits(
    session: Session, workspace_id: int, wanted: Limits, actor: audit.Actor, at: datetime
) -> WorkspaceSettings | Refused:
    """Set all limits of a workspace; the audit line names what changed, before and after.

    Refused: `invalid_limits` with a problem per fault.
    """
    faults = tuple(_faults(wanted))
    if faults:
        return Refused("invalid_limits", "invalid", faults)
    row = _held(session, workspace_id)
    before, after = asdict(_limits(row)), asdict(wanted)
    changed = {name: value for name, value in after.items() if value != before[name]}
    for name, value in changed.items():
        setattr(row, name, value)
    if changed:
        details: dict[str, audit.Scalar] = dict(changed)
        details |= {f"previous_{name}": before[name] for name in changed}
        _note(session, row, "workspace.updated", actor, at, details)
        session.flush()
    return workspace_settings(row)


def suspend(
    session: Session, workspace_id: int, actor: audit.Actor, at: datetime
) -> Transitioned | Recorded:
    """Stop a workspace: none of its steps runs and none of its mails leaves until it is resumed."""
    row = _held(session, workspace_id)
    if row.suspended_at is not None:
        return Recorded(SUSPENDED)
    row.suspended_at = at
    _note(session, row, "workspace.suspended", actor, at, {})
    return Transitioned(ACTIVE, SUSPENDED)


def resume(
    session: Session, workspace_id: int, actor: audit.Actor, at: datetime
) -> Transitioned | Recorded:
    """Let a suspended workspace go on; what became due meanwhile is due now."""
    row = _held(session, workspace_id)
    if row.suspended_at is None:
        return Recorded(ACTIVE)
    row.suspended_at = None
    _note(session, row, "workspace.resumed", actor, at, {})
    return Transitioned(SUSPENDED, ACTIVE)


def _held(session: Session, workspace_id: int) -> Workspace:
    return session.scalars(
        select(Workspace).where(Workspace.id == workspace_id).with_for_update(key_share=True)
    ).one()


def _limits(row: Workspace) -> Limits:
    return Limits(
        row.mails_per_day,
        row.quiet_from,
        row.quiet_until,
        row.retention_days,
        row.timezone,
        row.language,
    )


def _note(
    session: Session,
    row: Workspace,
    action: str,
    actor: audit.Actor,
    at: datetime,
    details: Mapping[str, audit.Scalar],
) -> None:
    subject = audit.Subject(row.id, "workspace", row.public_id)
    audit.record(session, subject, action, actor, at, details)


def _faults(wanted: Limits) -> Iterator[Problem]:
    mails, days = wanted.mails_per_day, wanted.retention_days
    if mails is not None and not 1 <= mails <= MOST_MAILS_PER_DAY:
        yield _range("/mails_per_day", 1, MOST_MAILS_PER_DAY)
    yield from _quiet_faults(wanted.quiet_from, wanted.quiet_until)
    if not SHORTEST_RETENTION <= days <= LONGEST_RETENTION:
        yield _range("/retention_days", SHORTEST_RETENTION, LONGEST_RETENTION)
    if wanted.timezone not in _zones():
        yield Problem("/timezone", "unknown_timezone")
    if wanted.language not in LANGUAGES:
        yield Problem("/language", "unknown_language")


def _range(pointer: str, lowest: int, highest: int) -> Problem:
    return Problem(pointer, "out_of_range", {"lowest": lowest, "highest": highest})


def _quiet_faults(begin: str | None, end: str | None) -> Iterator[Problem]:
    given = {"/quiet_from": begin, "/quiet_until": end}
    wrong = [name for name, hour in given.items() if hour is not None and not _HOUR.fullmatch(hour)]
    absent = [name for name, hour in given.items() if hour is None]
    for pointer in wrong:
        yield Problem(pointer, "not_an_hour")
    if len(absent) == 1:
        yield Problem(absent[0], "quiet_hours_incomplete")
    elif begin is not None and begin == end:
        yield Problem("/quiet_until", "quiet_hours_empty")


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_names() -> list[str]:
    """Return the IANA zones that may be chosen, by name."""
    return sorted(_zones())
