"""API keys: issued once, stored hashed, scoped, revoked. What a scope means is `permissions`."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import ApiKey
from engine.accounts.permissions import SCOPES
from engine.accounts.queries import KeyHolder
from engine.accounts.service.sessions import hash_token
from engine.core import audit
from engine.core.ids import new_public_id, new_secret
from engine.core.outcome import Recorded, Refused, Transitioned, invalid, missing

PREFIX: Final = "sw_"
SHOWN: Final = 8
SHORTEST: Final = 24
LONGEST: Final = 200
USED_EVERY: Final = timedelta(minutes=1)
MAX_NAME: Final = 200


@dataclass(frozen=True)
class IssuedKey:
    """A fresh key. `secret` is shown this once and known to nobody afterwards."""

    public_id: str
    name: str
    prefix: str
    secret: str
    scopes: tuple[str, ...]


def create_key(
    session: Session,
    workspace_id: int,
    name: str,
    scopes: Collection[str],
    actor: audit.Actor,
    at: datetime,
    value: str | None = None,
) -> IssuedKey | Refused:
    """Issue a key. value: the secret to use instead of a random one (interface.md, `setup`).

    Refused: `name_missing`, `name_too_long`, `scopes_missing`, `unknown_scope`, `weak_key` (fewer
    than 24 printable characters), `key_taken` (some key has this value already).
    """
    label = name.strip()
    fault = _fault(label, scopes, value)
    if fault is not None:
        return fault
    secret = value or new_secret(PREFIX)
    taken = select(ApiKey.id).where(ApiKey.key_hash == hash_token(secret))
    if session.scalar(taken) is not None:
        return Refused("key_taken")
    row = ApiKey(
        workspace_id=workspace_id,
        public_id=new_public_id(),
        name=label,
        prefix=secret[:SHOWN],
        key_hash=hash_token(secret),
        scopes=sorted(set(scopes)),
        created_by=actor.name,
        created_at=at,
    )
    session.add(row)
    session.flush()
    _audit(session, row, "api_key.created", actor, at)
    return IssuedKey(row.public_id, row.name, row.prefix, secret, tuple(row.scopes))


def revoke_key(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Transitioned | Recorded | Refused:
    """Revoke a key for good; a key that is revoked already stays as it is (Recorded)."""
    row = session.scalar(
        select(ApiKey).where(ApiKey.workspace_id == workspace_id, ApiKey.public_id == public_id)
    )
    if row is None:
        return missing("api_key_not_found")
    landed = session.execute(
        update(ApiKey)
        .where(
            ApiKey.workspace_id == workspace_id, ApiKey.id == row.id, ApiKey.revoked_at.is_(None)
        )
        .values(revoked_at=at)
        .returning(ApiKey.id)
        .execution_options(synchronize_session=False)
    ).scalar()
    if landed is None:
        return Recorded("revoked")
    _audit(session, row, "api_key.revoked", actor, at)
    return Transitioned("active", "revoked")


def authenticate_key(session: Session, key: str, at: datetime) -> KeyHolder | None:  # noqa: ARG001 - keys may come to have an end
    """Return who `key` belongs to; None when it is unknown or revoked.

    One indexed read and no write: a GET stays a reading transaction. See `note_key_use`.
    """
    row = session.scalar(
        select(ApiKey).where(ApiKey.key_hash == hash_token(key), ApiKey.revoked_at.is_(None))
    )
    if row is None:
        return None
    return KeyHolder(
        row.id, row.public_id, row.workspace_id, frozenset(row.scopes), row.last_used_at
    )


def note_key_use(session: Session, holder: KeyHolder, at: datetime) -> None:
    """Note that the key was used; writes at most once a minute.

    For a writing transaction, and cheap to skip: nothing to do while `due_for_note` is False.
    """
    session.execute(
        update(ApiKey)
        .where(
            ApiKey.workspace_id == holder.workspace_id,
            ApiKey.id == holder.key_id,
            or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < at - USED_EVERY),
        )
        .values(last_used_at=at)
        .execution_options(synchronize_session=False)
    )


def due_for_note(holder: KeyHolder, at: datetime) -> bool:
    """Return whether `note_key_use` would write."""
    return holder.last_used_at is None or holder.last_used_at < at - USED_EVERY


def _fault(name: str, scopes: Collection[str], value: str | None) -> Refused | None:
    unknown = sorted(set(scopes) - SCOPES)
    if not name:
        return invalid("name_missing", "/name")
    if len(name) > MAX_NAME:
        return invalid("name_too_long", "/name", longest=MAX_NAME)
    if not scopes:
        return invalid("scopes_missing", "/scopes")
    if unknown:
        return invalid("unknown_scope", "/scopes", scope=unknown[0])
    if value is not None and not _strong(value):
        return invalid("weak_key", "/value", shortest=SHORTEST, longest=LONGEST)
    return None


def _strong(value: str) -> bool:
    """Return whether a chosen key can travel in a header as it is and is long enough."""
    fits = SHORTEST <= len(value) <= LONGEST and value == value.strip()
    return fits and value.isascii() and value.isprintable()


def _audit(session: Session, row: ApiKey, action: str, actor: audit.Actor, at: datetime) -> None:
    subject = audit.Subject(row.workspace_id, "api_key", row.public_id)
    details = {"name": row.name, "prefix": row.prefix, "scopes": " ".join(row.scopes)}
    audit.record(session, subject, action, actor, at, details)
