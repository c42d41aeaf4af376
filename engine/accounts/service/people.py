"""Users, memberships and new workspaces. The default sender of a new workspace is delivery's."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts import passwords
from engine.accounts.models import OWNER, ROLES, ApiKey, Membership, User, Workspace
from engine.accounts.permissions import FULL
from engine.accounts.service.keys import create_key
from engine.accounts.service.sessions import end_sessions, hash_token, subjects
from engine.core import audit
from engine.core.db import upsert
from engine.core.ids import new_public_id
from engine.core.outcome import Recorded, Refused, Transitioned, invalid, missing
from engine.core.text import normalise_email

SETUP: Final = audit.system("setup")
MAX_NAME: Final = 200
MAX_EMAIL: Final = 254
# Lenient on purpose: an installation inside a company may use names such as `.local`.
_ADDRESS: Final = re.compile(
    r"[^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)*"
    r"[^\W_](?:[\w-]{0,61}[^\W_])?"
)


@dataclass(frozen=True)
class SetUp:
    """What `stellwerk setup` asks for. api_key: value of a full-scope key, or None for no key."""

    email: str
    password: str
    workspace: str
    api_key: str | None = None


@dataclass(frozen=True)
class SetUpDone:
    """Owner and workspace, and which of them are new. email: as stored; domain: its host part."""

    workspace_id: int
    workspace_public_id: str
    workspace_name: str
    user_public_id: str
    email: str
    domain: str
    key_public_id: str | None
    created_user: bool
    created_workspace: bool


@dataclass(frozen=True)
class NewUser:
    """A person to add to a workspace. password: None where the account exists already."""

    email: str
    role: str
    password: str | None
    name: str = ""


@dataclass(frozen=True)
class AddedUser:
    """The account and whether it is new; an existing one keeps its password."""

    public_id: str
    email: str
    created: bool


def set_up(session: Session, asked: SetUp, at: datetime) -> SetUpDone | Refused:
    """Create owner, workspace and key; what is there already stays, the password included.

    Idempotent per (workspace name, address): another address gets a workspace of its own, because
    a name that happens to be taken must not open somebody else's data. Refused: `bad_email`,
    `password_missing`, `password_too_long`, `name_missing`, `name_too_long`, `name_invalid`,
    `weak_key`, `key_taken`.
    """
    name, fault = asked.workspace.strip(), _faults(asked)
    if fault is not None:
        return fault
    user, created = _account(session, normalise_email(asked.email), asked.password, "", at)
    workspace = _owned(session, user.id, name)
    new = workspace is None
    if workspace is None:
        workspace = _new_workspace(session, user, name, at)
    key = _key(session, workspace.id, asked.api_key, at) if asked.api_key is not None else None
    if isinstance(key, Refused):
        return key
    return SetUpDone(
        workspace_id=workspace.id,
        workspace_public_id=workspace.public_id,
        workspace_name=workspace.name,
        user_public_id=user.public_id,
        email=user.email,
        domain=user.email.rpartition("@")[2],
        key_public_id=key,
        created_user=created,
        created_workspace=new,
    )


def add_user(
    session: Session, workspace_id: int, asked: NewUser, actor: audit.Actor, at: datetime
) -> AddedUser | Refused:
    """Make a person a member, with a new account where the address has none.

    Refused: `bad_email`, `unknown_role`, `password_missing`, `password_too_short`,
    `password_too_long`, `already_member`.
    """
    address = normalise_email(asked.email)
    known = session.scalar(select(User.id).where(User.email == address)) is not None
    fault = email_fault(address) or _role_fault(asked.role)
    if fault is None and not known:
        fault = password_fault(asked.password or "", passwords.MIN_LENGTH)
    if fault is not None:
        return fault
    user, created = _account(session, address, asked.password or "", asked.name, at)
    if _membership(session, workspace_id, user.id) is not None:
        return Refused("already_member")
    _join(session, workspace_id, user, asked.role, actor, at)
    return AddedUser(user.public_id, user.email, created)


def change_role(
    session: Session,
    workspace_id: int,
    user_public_id: str,
    role: str,
    actor: audit.Actor,
    at: datetime,
) -> Transitioned | Recorded | Refused:
    """Give a member another role. Ask for `ownership:manage` where either role is owner.

    Refused: `unknown_role`, `user_not_found`, `last_owner` (a workspace never lacks an owner).
    """
    fault = _role_fault(role)
    if fault is not None:
        return fault
    user = session.scalar(select(User).where(User.public_id == user_public_id))
    membership = _membership(session, workspace_id, user.id) if user else None
    if user is None or membership is None:
        return missing("user_not_found")
    before = membership.role
    if before == role:
        return Recorded(role)
    if before == OWNER and _owners(session, workspace_id) == 1:
        return Refused("last_owner")
    membership.role = role
    session.flush()
    subject = audit.Subject(workspace_id, "user", user.public_id)
    details = {"previous_role": before, "new_role": role}
    audit.record(session, subject, "user.role_changed", actor, at, details)
    return Transitioned(before, role)


def change_password(
    session: Session, user_public_id: str, password: str, actor: audit.Actor, at: datetime
) -> int | Refused:
    """Set a new password and end every session of the user; return how many were open."""
    user = session.scalar(select(User).where(User.public_id == user_public_id))
    if user is None:
        return missing("user_not_found")
    fault = password_fault(password, passwords.MIN_LENGTH)
    if fault is not None:
        return fault
    user.password_hash = passwords.hash_password(password)
    session.flush()
    ended = end_sessions(session, user.id, at)
    for subject in subjects(session, user):
        audit.record(session, subject, "user.password_changed", actor, at, {"sessions": ended})
    return ended


def email_fault(address: str) -> Refused | None:
    """Return what is wrong with an account's address."""
    if len(address) <= MAX_EMAIL and _ADDRESS.fullmatch(address):
        return None
    return invalid("bad_email", "/email")


def password_fault(password: str, shortest: int) -> Refused | None:
    """Return what is wrong with a password of at least `shortest` characters."""
    if not password:
        return invalid("password_missing", "/password")
    if len(password) < shortest:
        return invalid("password_too_short", "/password", shortest=shortest)
    if len(password) > passwords.MAX_LENGTH:
        return invalid("password_too_long", "/password", longest=passwords.MAX_LENGTH)
    return None


def _faults(asked: SetUp) -> Refused | None:
    name = asked.workspace.strip()
    if not name:
        return invalid("name_missing", "/workspace")
    if len(name) > MAX_NAME:
        return invalid("name_too_long", "/workspace", longest=MAX_NAME)
    if not name.isprintable():
        return invalid("name_invalid", "/workspace")
    # The operator's own word: any password will do here, however short.
    return email_fault(normalise_email(asked.email)) or password_fault(asked.password, 1)


def _role_fault(role: str) -> Refused | None:
    return None if role in ROLES else invalid("unknown_role", "/role", role=role)


def _account(
    session: Session, address: str, password: str, name: str, at: datetime
) -> tuple[User, bool]:
    """Return the account of `address`, locked until the transaction ends, and whether it is new."""
    there = select(User).where(User.email == address).with_for_update()
    user = session.scalar(there)
    if user is not None:
        return user, False
    # A second process that adds the same address waits here and then finds it.
    made = session.execute(
        upsert(session, User)
        .values(
            public_id=new_public_id(),
            email=address,
            name=name.strip()[:MAX_NAME],
            password_hash=passwords.hash_password(password),
            created_at=at,
        )
        .on_conflict_do_nothing(index_elements=["email"])
        .returning(User.id)
    ).scalar()
    return session.scalars(there).one(), made is not None


def _owned(session: Session, user_id: int, name: str) -> Workspace | None:
    return session.scalar(
        select(Workspace)
        .join(Membership, Membership.workspace_id == Workspace.id)
        .where(Membership.user_id == user_id, Membership.role == OWNER, Workspace.name == name)
        .order_by(Workspace.id)
        .limit(1)
    )


def _new_workspace(session: Session, owner: User, name: str, at: datetime) -> Workspace:
    workspace = Workspace(public_id=new_public_id(), name=name, created_at=at)
    session.add(workspace)
    session.flush()
    subject = audit.Subject(workspace.id, "workspace", workspace.public_id)
    audit.record(session, subject, "workspace.created", SETUP, at, {"name": name})
    _join(session, workspace.id, owner, OWNER, SETUP, at)
    return workspace


def _join(
    session: Session, workspace_id: int, user: User, role: str, actor: audit.Actor, at: datetime
) -> None:
    session.add(Membership(workspace_id=workspace_id, user_id=user.id, role=role, created_at=at))
    session.flush()
    subject = audit.Subject(workspace_id, "user", user.public_id)
    audit.record(session, subject, "user.added", actor, at, {"role": role})


def _key(session: Session, workspace_id: int, value: str, at: datetime) -> str | Refused:
    """Return the public id of the live full-scope key with this value, made where it is missing."""
    there = session.scalar(
        select(ApiKey).where(
            ApiKey.workspace_id == workspace_id,
            ApiKey.key_hash == hash_token(value),
            ApiKey.revoked_at.is_(None),
        )
    )
    if there is not None and FULL in there.scopes:
        return there.public_id
    issued = create_key(session, workspace_id, "setup", {FULL}, SETUP, at, value)
    return issued if isinstance(issued, Refused) else issued.public_id


def _membership(session: Session, workspace_id: int, user_id: int) -> Membership | None:
    return session.scalar(
        select(Membership).where(
            Membership.workspace_id == workspace_id, Membership.user_id == user_id
        )
    )


def _owners(session: Session, workspace_id: int) -> int:
    # Locked, so that two owners cannot step down at once.
    rows = session.scalars(
        select(Membership.id)
        .where(Membership.workspace_id == workspace_id, Membership.role == OWNER)
        .with_for_update()
    )
    return len(rows.all())
