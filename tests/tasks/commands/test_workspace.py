"""`stellwerk workspace`: suspend and resume, audited, said in one line."""

from sqlalchemy import select

from engine.accounts import queries
from engine.core.audit import AuditEntry
from engine.house import House
from tests.factories import accounts
from tests.tasks.commands.conftest import Cli


def test_a_workspace_is_suspended_and_goes_on(cli: Cli, house: House) -> None:
    with house.runtime.uow.begin() as session:
        workspace_id = accounts.workspace(session, "Acme").id
    assert cli("workspace", "suspend", "--workspace", "Acme") == "Acme is suspended.\n"
    assert cli("workspace", "suspend") == "Acme is suspended already.\n"
    with house.runtime.uow.read() as session:
        assert queries.get_settings(session, workspace_id).suspended_at is not None
    assert cli("workspace", "resume") == "Acme goes on.\n"
    assert cli("workspace", "resume") == "Acme goes on already.\n"
    with house.runtime.uow.read() as session:
        assert queries.get_settings(session, workspace_id).suspended_at is None
        lines = session.execute(select(AuditEntry.action, AuditEntry.actor)).all()
    told = [tuple(line) for line in lines if line.actor == "system:cli"]
    assert told == [("workspace.suspended", "system:cli"), ("workspace.resumed", "system:cli")]


def test_an_unknown_workspace_is_refused_in_one_line(cli: Cli) -> None:
    assert "no such workspace" in cli.refused("workspace", "suspend", "--workspace", "Nowhere")
