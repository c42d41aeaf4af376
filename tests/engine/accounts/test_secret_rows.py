"""Secrets as lists and as sealed values: of one workspace alone, never in the clear."""

from engine.accounts.secret_rows import kinds_of, list_secrets, sealed
from engine.accounts.service.secrets import ADDRESS, PURPOSE, SIGNING
from engine.core import crypto
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.secrets import secret


def test_secrets_are_listed_by_name_and_found_in_their_workspace_alone(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        here, there = accounts.workspace(session).id, accounts.workspace(session).id
        hook = secret(session, here, "Hook", at=clock.now())
        alerts = secret(session, here, "Alerts", ADDRESS, "https://chat.example/x1y2")
        secret(session, there, "Hook")
        lines = list_secrets(session, here)
        assert [(line.name, line.kind) for line in lines] == [
            ("Alerts", ADDRESS),
            ("Hook", SIGNING),
        ]
        assert lines[0].hint == "x1y2"
        asked = [hook.public_id, alerts.public_id]
        assert kinds_of(session, here, asked)[hook.public_id] == ("Hook", SIGNING)
        assert kinds_of(session, there, asked) == {}
        assert sealed(session, [(there, hook.public_id)]) == {}
        assert sealed(session, []) == {}
        found = sealed(session, [(here, hook.public_id)])[here, hook.public_id]
        assert hook.value not in found.sealed
        assert crypto.unseal(found.sealed, PURPOSE) == hook.value
