"""`stellwerk backup`: one file with everything, or none."""

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from engine.core.settings import Settings
from migrations import run
from tasks.backup import postgres
from tasks.backup.archive import Reader
from tests.support.stack import PROGRAM, Stack
from tests.tasks.commands.conftest import Cli


def test_a_backup_holds_what_cannot_be_made_again(owned: Cli, tmp_path: Path) -> None:
    (owned.home / "stellwerk.env").write_text("STELLWERK_PORT=8001\n")
    (owned.home / "outbox").mkdir()
    (owned.home / "outbox" / "abc.eml").write_text("Subject: one")
    (owned.home / "outbox" / ".def.part").write_text("half a letter")
    said = owned("backup", str(tmp_path / "file"))
    manifest = Reader(tmp_path / "file").manifest
    kind = owned.database.get_backend_name()
    database = {"sqlite": "database.sqlite", "postgresql": "database.sql"}[kind]
    assert set(manifest.members) == {database, "secret.key", "stellwerk.env", "outbox/abc.eml"}
    assert (manifest.database, manifest.revision) == (kind, max(run.known()))
    assert (manifest.rows["workspaces"], manifest.rows["contacts"]) == (1, 0)
    assert "1 workspaces" in said
    assert "1 letters" in said
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_file_that_is_there_is_never_overwritten(owned: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    assert "never overwrites" in owned.refused("backup", str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "precious"


def test_a_folder_that_is_not_there_is_said(owned: Cli, tmp_path: Path) -> None:
    assert "nowhere" in owned.refused("backup", str(tmp_path / "nowhere" / "file"))


def test_without_pg_dump_the_remedy_is_said(
    owned: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_INSTALLED", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    if owned.database.get_backend_name() == "sqlite":
        owned("backup", str(tmp_path / "file"))
        return
    assert "postgresql-client" in owned.refused("backup", str(tmp_path / "file"))
    assert not (tmp_path / "file").exists()


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_full_disk_leaves_nothing_half(stack: Stack) -> None:
    stack.setup()
    target = stack.home / "file"
    done = subprocess.run(
        [PROGRAM, "backup", target], env=stack.env, cwd=stack.home, capture_output=True,
        text=True, preexec_fn=_small_files, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert not target.exists()
    assert not (stack.home / ".file.part").exists()


def test_a_kill_leaves_no_file_and_hinders_nobody(stack: Stack) -> None:
    stack.setup()
    part = stack.home / ".backup.part"
    process = stack.start("backup", str(stack.home / "backup"))
    while not part.exists():  # gone again within milliseconds: no time for pauses between looks
        assert process.poll() is None, stack.logs()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
    assert not (stack.home / "backup").exists()
    stack.cli("backup", str(stack.home / "backup"))
    assert Reader(stack.home / "backup").manifest.rows["workspaces"] == 1
    assert not part.exists()


def test_the_password_of_the_database_is_in_no_argument(settings: Settings, tmp_path: Path) -> None:
    url = settings.database.set(
        drivername="postgresql+psycopg", username="ada", password="p:w\\d", host="h", port=5
    )
    address = postgres._address(url, tmp_path)
    assert "p:w" not in address
    assert "p%3Aw" not in address
    assert address.startswith("postgresql://ada@h:5/")
    assert (tmp_path / "pgpass").read_text() == "*:*:*:*:p\\:w\\\\d\n"
    assert (tmp_path / "pgpass").stat().st_mode & 0o777 == 0o600
