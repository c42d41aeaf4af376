"""Signing in and out. Owns the limit on tries and the life of a session; the cookie is the web's.

A token is a random secret; the row holds its hash, so a stolen table opens no session.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.accounts import passwords, queries
from engine.accounts.models import Membership, User, UserSession
from engine.accounts.queries import Person
from engine.core import audit, rate
from engine.core.ids import new_secret
from engine.core.outcome import Refused, missing
from engine.core.text import normalise_email

# The twentieth try within a window is refused, right or wrong (SEC-03: "20 tries → 429").
TRIES: Final = 19
WINDOW: Final = timedelta(minutes=15)
# A session ends after this long without a visit, and at the latest after LONGEST.
IDLE: Final = timedelta(days=30)
LONGEST: Final = timedelta(days=90)
SEEN_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True)
class Origin:
    """Where a try came from, as far as it is known."""

    ip_address: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True)
class SignedIn:
    """A fresh session: `token` goes into the cookie and is shown nowhere else."""

    token: str
    person: Person


def sign_in(
    session: Session, email: str, password: str, origin: Origin, at: datetime
) -> SignedIn | Refused:
    """Open a session for the account's first workspace.

    Commit the transaction whatever the answer: a refusal counts the try. Reasons: `bad_credentials`
    (the same for an unknown account, a wrong password and a person without a workspace; the same
    work is done for each, SEC-03) and `too_many_tries` with `retry_after` in seconds.
    """
    address = normalise_email(email)
    keys = _rate_keys(address, origin)
    user = session.scalar(select(User).where(User.email == address))
    granted = [rate.lease(session, key, TRIES, WINDOW, at) for key in keys]
    if not all(granted):
        if user is not None:
            _note_lock(session, user, origin, at)
        return Refused(
            "too_many_tries", "too_many", params={"retry_after": rate.retry_after(WINDOW, at)}
        )
    fits = passwords.verify(user.password_hash if user else None, password)
    person = queries.first_membership(session, user.id) if user and fits else None
    if user is None or person is None:
        return Refused("bad_credentials", "forbidden")
    for key in keys:
        # Only failed tries count, so that an office behind one address may all sign in.
        rate.give_back(session, key, WINDOW, at)
    if passwords.needs_rehash(user.password_hash):
        user.password_hash = passwords.hash_password(password)
    user.last_signed_in_at = at
    return SignedIn(_open(session, person, origin, at), person)


def resume_session(session: Session, token: str, at: datetime) -> Person | None:
    """Return who a cookie's token belongs to; None when it is unknown, revoked or too old.

    Reads only: a page view stays a reading transaction. See `note_seen`.
    """
    found = queries.person_of_session(session, hash_token(token))
    if found is None:
        return None
    person, row = found
    ended = row.revoked_at is not None or at - row.seen_at > IDLE or at - row.created_at > LONGEST
    return None if ended else person


def note_seen(session: Session, token: str, at: datetime) -> None:
    """Note that the session was used; writes at most once a minute.

    For a writing transaction of its own, when `person.seen_at` is older than SEEN_EVERY.
    """
    session.execute(
        update(UserSession)
        .where(UserSession.token_hash == hash_token(token), UserSession.seen_at < at - SEEN_EVERY)
        .values(seen_at=at)
        .execution_options(synchronize_session=False)
    )


def sign_out(session: Session, token: str, at: datetime) -> None:
    """End the session of `token`; an unknown or ended one stays as it is."""
    session.execute(
        update(UserSession)
        .where(UserSession.token_hash == hash_token(token), UserSession.revoked_at.is_(None))
        .values(revoked_at=at)
        .execution_options(synchronize_session=False)
    )


def revoke_sessions(
    session: Session,
    user_public_id: str,
    at: datetime,
    actor: audit.Actor = audit.system("accounts"),  # noqa: B008 - a frozen value
) -> int | Refused:
    """End every session of a user at once; return how many were open."""
    user = session.scalar(select(User).where(User.public_id == user_public_id))
    if user is None:
        return missing("user_not_found")
    ended = end_sessions(session, user.id, at)
    for subject in subjects(session, user):
        audit.record(session, subject, "user.sessions_revoked", actor, at, {"sessions": ended})
    return ended


def end_sessions(session: Session, user_id: int, at: datetime) -> int:
    """End every open session of a user, without an audit line; return how many were open."""
    ended = session.execute(
        update(UserSession)
        .where(UserSession.user_id == user_id, UserSession.revoked_at.is_(None))
        .values(revoked_at=at)
        .returning(UserSession.id)
        .execution_options(synchronize_session=False)
    )
    return len(ended.all())


def subjects(session: Session, user: User) -> Sequence[audit.Subject]:
    """Return the user as the subject of an audit line in each of the user's workspaces."""
    workspaces = session.scalars(
        select(Membership.workspace_id).where(Membership.user_id == user.id).order_by(Membership.id)
    )
    return [audit.Subject(workspace_id, "user", user.public_id) for workspace_id in workspaces]


def hash_token(token: str) -> str:
    """Return what is stored of a token: it is random and long, so one round is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _open(session: Session, person: Person, origin: Origin, at: datetime) -> str:
    token = new_secret()
    session.add(
        UserSession(
            workspace_id=person.workspace_id,
            token_hash=hash_token(token),
            user_id=person.user_id,
            ip_address=origin.ip_address,
            user_agent=(origin.user_agent or "")[:300] or None,
            created_at=at,
            seen_at=at,
        )
    )
    session.flush()
    return token


def _rate_keys(address: str, origin: Origin) -> list[str]:
    # Hashed: the table of rates holds no addresses, and a key has a bounded length.
    keys = [f"sign-in:email:{hash_token(address)}"]
    return [*keys, f"sign-in:ip:{_network(origin.ip_address)}"] if origin.ip_address else keys


def _network(address: str) -> str:
    """Return the address; of an IPv6 one its /64, which one machine owns as a whole."""
    try:
        version = ip_address(address).version
    except ValueError:
        return address[:45]
    return address if version == 4 else str(ip_network(f"{address}/64", strict=False))


def _note_lock(session: Session, user: User, origin: Origin, at: datetime) -> None:
    """Write one audit line a window, not one a try."""
    if not rate.lease(session, f"sign-in:locked:{user.public_id}", 1, WINDOW, at):
        return
    actor = audit.Actor("system:sign-in", origin.ip_address, origin.user_agent)
    for subject in subjects(session, user):
        audit.record(session, subject, "user.sign_in_locked", actor, at, {"tries": TRIES})
