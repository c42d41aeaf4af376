"""Secrets of a workspace, that outbound calls need: stored sealed, told once, deleted.

A value leaves the engine once, for whoever created it; later only the call that needs it opens it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import Executable, bindparam, delete, func, or_, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import Secret
from engine.core import audit, crypto
from engine.core.db import Instant, Prepared, among_bound, many, table_of
from engine.core.ids import new_public_id, new_secret
from engine.core.outcome import Refused, invalid, missing
from engine.core.text import storable

# A secret in daily use is not written at every call.
NOTED_EVERY: Final = timedelta(hours=1)
# Signs the body of a call; or is itself the address that is called.
SIGNING: Final = "signing"
ADDRESS: Final = "address"
# What a secret is sealed for; it opens for nothing else.
PURPOSE: Final = "outbound secret"
PREFIX: Final = "whsec_"
MAX_NAME: Final = 200
SHORTEST: Final = 16
LONGEST: Final = 2_000
# Enough to tell two of them apart, too little to use.
_HINT: Final = 4
_MOST: Final = 200


@dataclass(frozen=True)
class CreatedSecret:
    """A fresh secret. value: shown this once."""

    public_id: str
    value: str


def create_secret(
    session: Session,
    workspace_id: int,
    name: str,
    kind: str,
    value: str | None,
    actor: audit.Actor,
    at: datetime,
) -> CreatedSecret | Refused:
    """Store a secret, sealed. value None: a random one, for signing alone.

    Refused: `name_missing`, `name_too_long`, `name_invalid`, `secret_name_taken`,
    `unknown_secret_kind`, `secret_value_missing`, `secret_weak`, `secret_address_invalid`,
    `too_many_secrets`.
    """
    label = name.strip()
    fault = _fault(label, kind, value)
    if fault is not None:
        return fault
    mine = Secret.workspace_id == workspace_id
    if session.scalar(select(Secret.id).where(mine, Secret.name == label)) is not None:
        return invalid("secret_name_taken", "/name")
    if (session.scalar(select(func.count()).select_from(Secret).where(mine)) or 0) >= _MOST:
        return Refused("too_many_secrets", params={"limit": _MOST})
    plain = value or new_secret(PREFIX)
    row = Secret(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        name=label,
        kind=kind,
        sealed=crypto.seal(plain, PURPOSE),
        hint=plain[-_HINT:],
        created_by=actor.name,
        created_at=at,
    )
    session.add(row)
    session.flush()
    subject = audit.Subject(workspace_id, "outbound_secret", row.public_id)
    audit.record(
        session, subject, "outbound_secret.created", actor, at, {"name": label, "kind": kind}
    )
    return CreatedSecret(row.public_id, plain)


def delete_secret(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a secret for good; steps that need it fail from now on (SECRET_NOT_FOUND)."""
    row = Secret
    name = session.scalar(
        delete(row)
        .where(row.workspace_id == workspace_id, row.public_id == public_id)
        .returning(row.name)
        .execution_options(synchronize_session=False)
    )
    if name is None:
        return missing("secret_not_found")
    subject = audit.Subject(workspace_id, "outbound_secret", public_id)
    audit.record(session, subject, "outbound_secret.deleted", actor, at, {"name": name})
    return None


def _fault(name: str, kind: str, value: str | None) -> Refused | None:
    if not name:
        return invalid("name_missing", "/name")
    if len(name) > MAX_NAME:
        return invalid("name_too_long", "/name", longest=MAX_NAME)
    if not storable(name):
        return invalid("name_invalid", "/name")
    if kind not in (SIGNING, ADDRESS):
        return invalid("unknown_secret_kind", "/kind")
    if value is None:
        return None if kind == SIGNING else invalid("secret_value_missing", "/value")
    if kind == ADDRESS:
        return None if _is_address(value) else invalid("secret_address_invalid", "/value")
    fits = SHORTEST <= len(value) <= LONGEST and value.isascii() and value.isprintable()
    return None if fits else invalid("secret_weak", "/value", shortest=SHORTEST, longest=LONGEST)


def _is_address(value: str) -> bool:
    if len(value) > LONGEST or not value.isascii() or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


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
