"""Secrets: stored sealed, told once, deleted; when one was last used is noted once an hour."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from engine.accounts.models import Secret
from engine.accounts.service.secrets import (
    NOTED_EVERY,
    create_secret,
    delete_secret,
    note_used,
)
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.secrets import ACTOR, secret


@pytest.fixture
def stored(uow: UnitOfWork, clock: FixedClock) -> Sequence[int]:
    """Return two secrets by row."""
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        rows = [
            Secret(
                public_id=f"sec{number}",
                workspace_id=workspace_id,
                name=f"Hook {number}",
                kind="signing",
                sealed="v1.",
                hint="0000",
                created_by="user:test",
                created_at=clock.now(),
            )
            for number in range(2)
        ]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


def used(uow: UnitOfWork) -> list[datetime | None]:
    with uow.read() as session:
        return list(session.scalars(select(Secret.last_used_at).order_by(Secret.id)))


def note(uow: UnitOfWork, rows: Sequence[int], at: datetime) -> None:
    with uow.begin() as session:
        note_used(session, rows, at)


def test_a_use_is_noted_of_that_secret_alone(
    uow: UnitOfWork, clock: FixedClock, stored: Sequence[int]
) -> None:
    note(uow, [], clock.now())
    assert used(uow) == [None, None]
    note(uow, stored[1:], clock.now())
    assert used(uow) == [None, clock.now()]


def test_a_use_within_the_hour_writes_nothing(
    uow: UnitOfWork, clock: FixedClock, stored: Sequence[int]
) -> None:
    first = clock.now()
    note(uow, stored[:1], first)
    note(uow, stored, first + NOTED_EVERY - timedelta(seconds=1))
    assert used(uow) == [first, first + NOTED_EVERY - timedelta(seconds=1)]
    note(uow, stored[:1], first + NOTED_EVERY)
    assert used(uow)[0] == first + NOTED_EVERY


def test_a_secret_is_stored_sealed_and_told_once(uow: UnitOfWork, clock: FixedClock) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        made = secret(session, workspace_id, at=clock.now())
        row = session.scalars(select(Secret)).one()
        assert made.value.startswith("whsec_")
        assert made.value not in row.sealed
        assert (row.hint, row.created_by) == (made.value[-4:], "user:tester")
        entry = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "outbound_secret.created")
        ).one()
        assert (entry.resource_id, entry.details) == (
            made.public_id,
            {"name": "Hook", "kind": "signing"},
        )


@pytest.mark.parametrize(
    ("name", "kind", "value", "reason"),
    [
        (" ", "signing", None, "name_missing"),
        ("x" * 201, "signing", None, "name_too_long"),
        ("a\0b", "signing", None, "name_invalid"),
        ("Hook", "signing", None, "secret_name_taken"),
        ("New", "password", None, "unknown_secret_kind"),
        ("New", "address", None, "secret_value_missing"),
        ("New", "address", "ftp://chat.example/x", "secret_address_invalid"),
        ("New", "address", "https://", "secret_address_invalid"),
        ("New", "address", "https://[::1/", "secret_address_invalid"),
        ("New", "signing", "short", "secret_weak"),
        ("New", "signing", "ü" * 20, "secret_weak"),
    ],
)
def test_what_is_no_secret_is_refused(
    uow: UnitOfWork, clock: FixedClock, name: str, kind: str, value: str | None, reason: str
) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        secret(session, workspace_id)
        refused = create_secret(session, workspace_id, name, kind, value, ACTOR, clock.now())
        assert isinstance(refused, Refused)
        assert refused.reason == reason
        assert len(session.scalars(select(Secret)).all()) == 1


def test_a_deleted_secret_is_gone_and_only_from_its_own_workspace(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        here, there = accounts.workspace(session).id, accounts.workspace(session).id
        made, at = secret(session, here), clock.now()
        unknown = delete_secret(session, there, made.public_id, ACTOR, at)
        assert unknown == Refused("secret_not_found", "missing")
        assert delete_secret(session, here, made.public_id, ACTOR, at) is None
        assert session.scalars(select(Secret)).all() == []
        again = delete_secret(session, here, made.public_id, ACTOR, at)
        assert again == Refused("secret_not_found", "missing")
        actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions[-2:] == ["outbound_secret.created", "outbound_secret.deleted"]
