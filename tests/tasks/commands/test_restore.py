"""`stellwerk restore`: all of a backup in the place of what is there, or nothing changed."""

import json
import os
import sqlite3
import zipfile
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.orm import Session

from engine.core import ticks
from engine.core.clock import now
from tasks.periodic import process_name
from tests.tasks.commands.conftest import Cli

# A process that is there as long as the tests run: this one.
ALIVE = process_name("worker")
DEAD = ALIVE.replace(f":{os.getpid()}:", f":{2**22 + 1}:")
ELSEWHERE = "worker:another-machine:77:abcdef"


@pytest.fixture
def demo(owned: Cli) -> Cli:
    """Return an installation with sample people on their way, and mails that wait."""
    owned("demo", "load")
    return owned


@pytest.fixture
def file(demo: Cli, tmp_path: Path) -> Path:
    """Return a backup of it."""
    demo("backup", str(tmp_path / "file"))
    return tmp_path / "file"


def ask(cli: Cli, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of one statement; what it changes is kept."""
    engine: Engine = create_engine(cli.database)
    try:
        with engine.begin() as connection:
            done = connection.execute(text(statement))
            return [tuple(row) for row in done] if done.returns_rows else []
    finally:
        engine.dispose()


def beat(cli: Cli, name: str, at: datetime) -> None:
    """Leave the heartbeat of a process."""
    engine = create_engine(cli.database)
    with Session(engine) as session:
        ticks.beat(session, "worker", name, at)
        session.commit()
    engine.dispose()


def counts(cli: Cli) -> dict[str, int]:
    names = ("workspaces", "contacts", "automations", "automation_runs", "audit_log")
    return {name: ask(cli, f"SELECT count(*) FROM {name}")[0][0] for name in names}


def wipe(cli: Cli) -> None:
    """Leave a database without any table."""
    if cli.database.get_backend_name() == "postgresql":
        ask(cli, "DROP SCHEMA public CASCADE")
        ask(cli, "CREATE SCHEMA public")
        return
    for end in ("", "-wal", "-shm"):
        Path(f"{cli.database.database}{end}").unlink(missing_ok=True)


def changed(path: Path, **changes: object) -> Path:
    """Return a copy of a backup that says something else of itself."""
    with zipfile.ZipFile(path) as opened:
        held = {name: opened.read(name) for name in opened.namelist()}
    manifest: Mapping[str, object] = json.loads(held.pop("manifest.json"))
    other = path.with_name("other")
    with zipfile.ZipFile(other, "w") as opened:
        for name, data in held.items():
            opened.writestr(name, data)
        opened.writestr("manifest.json", json.dumps({**manifest, **changes}))
    return other


def test_a_restore_brings_everything_back(demo: Cli, file: Path) -> None:
    before, key = counts(demo), (demo.home / "secret.key").read_text()
    demo("demo", "remove")
    (demo.home / "secret.key").write_text("another key, made by mistake, 32 characters")
    said = demo("restore", "--replace", str(file))
    assert counts(demo) == before
    assert (demo.home / "secret.key").read_text() == key
    assert f"{before['contacts']} contacts" in said
    assert said.count("It takes the place of: 1 workspaces, 0 contacts") == 1
    demo("db", "check")
    assert ask(demo, "SELECT count(*) FROM heartbeats") == [(0,)]
    assert not [path for path in demo.home.iterdir() if path.name.endswith(".part")]


def test_a_database_with_people_in_it_is_replaced_only_when_asked_for(
    demo: Cli, file: Path
) -> None:
    demo("demo", "remove")
    before = counts(demo)
    assert "--replace" in demo.refused("restore", str(file))
    assert counts(demo) == before


def test_a_migrated_database_without_anybody_is_empty(demo: Cli, file: Path) -> None:
    expected = counts(demo)
    wipe(demo)
    demo("db", "upgrade")
    demo("restore", str(file))
    assert counts(demo) == expected


def test_what_a_backup_is_worth_is_said_before_anything_happens(demo: Cli, file: Path) -> None:
    runs = ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'")[0][0]
    said = demo("restore", "--replace", str(file)).splitlines()
    assert said[0].startswith("The backup is of ")
    assert f"{runs} runs were under way" in said[2]
    assert "--hold-mail" in said[2]


def test_held_mail_is_not_sent_and_held_people_do_not_move(demo: Cli, tmp_path: Path) -> None:
    demo("sweep", "steps")
    queued = ask(demo, "SELECT count(*) FROM email_sends WHERE status = 'queued'")[0][0]
    assert queued
    running = ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'")
    demo("backup", str(tmp_path / "file"))
    said = demo("restore", "--replace", "--hold-mail", str(tmp_path / "file"))
    assert f"{queued} mails waited" in said
    assert "Paused 3 automations" in said
    assert ask(demo, "SELECT DISTINCT status FROM automations") == [("paused",)]
    demo("sweep", "steps")
    demo("sweep", "sends")
    assert ask(demo, "SELECT status, error_code, count(*) FROM email_sends GROUP BY 1, 2") == [
        ("failed", "OUTCOME_UNKNOWN", queued)
    ]
    assert not list((demo.home / "outbox").glob("*.eml"))
    assert ask(demo, "SELECT DISTINCT on_pause FROM automations") == [("hold",)]
    assert ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'") == running
    free = "SELECT count(*) FROM automation_step_runs WHERE held_at IS NULL AND status = 'pending'"
    assert ask(demo, f"{free} AND due_at <= (SELECT max(paused_at) FROM automations)") == [(0,)]


def test_mail_goes_on_when_nobody_asked_to_hold_it(demo: Cli, tmp_path: Path) -> None:
    demo("sweep", "steps")
    demo("backup", str(tmp_path / "file"))
    demo("restore", "--replace", str(tmp_path / "file"))
    demo("sweep", "sends")
    assert ask(demo, "SELECT DISTINCT status FROM email_sends") == [("sent",)]
    assert list((demo.home / "outbox").glob("*.eml"))


def test_a_newer_backup_is_refused(demo: Cli, file: Path) -> None:
    before = counts(demo)
    newer = changed(file, revision="9999", version="8.0")
    assert "made by a newer Stellwerk (8.0" in demo.refused("restore", "--replace", str(newer))
    assert counts(demo) == before


def test_a_backup_of_the_other_kind_is_refused(demo: Cli, file: Path, tmp_path: Path) -> None:
    other = {"sqlite": "postgresql", "postgresql": "sqlite"}[demo.database.get_backend_name()]
    names = {"database.sqlite": "database.sql", "database.sql": "database.sqlite"}
    with zipfile.ZipFile(file) as opened:
        held = {names.get(name, name): opened.read(name) for name in opened.namelist()}
    manifest = json.loads(held.pop("manifest.json"))
    manifest["database"] = other
    manifest["members"] = {names.get(k, k): v for k, v in manifest["members"].items()}
    with zipfile.ZipFile(tmp_path / "turned", "w") as opened:
        for name, data in held.items():
            opened.writestr(name, data)
        opened.writestr("manifest.json", json.dumps(manifest))
    refused = demo.refused("restore", "--replace", str(tmp_path / "turned"))
    assert "STELLWERK_DATABASE_URL" in refused


def test_a_damaged_or_foreign_file_changes_nothing(demo: Cli, file: Path, tmp_path: Path) -> None:
    before = counts(demo)
    whole = file.read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "photo").write_bytes(b"\xff\xd8\xff\xe0 a photo")
    at = whole.index(b"database.sq") + 200
    (tmp_path / "bitten").write_bytes(whole[:at] + b"XXXX" + whole[at + 4 :])
    for name, word in (("half", "is no backup"), ("photo", "is no backup"), ("bitten", "damaged")):
        assert word in demo.refused("restore", "--replace", str(tmp_path / name))
    assert "No such file" in demo.refused("restore", str(tmp_path / "missing"))
    assert counts(demo) == before


def test_rows_that_differ_from_the_manifest_change_nothing(demo: Cli, file: Path) -> None:
    with zipfile.ZipFile(file) as opened:
        rows = json.loads(opened.read("manifest.json"))["rows"]
    demo("demo", "remove")
    before = counts(demo)
    other = changed(file, rows={**rows, "contacts": rows["contacts"] + 1})
    done = demo.run("restore", "--replace", str(other))
    assert done.exit_code == 1
    assert "contacts" in done.stderr
    assert counts(demo) == before


@pytest.mark.parametrize(
    ("name", "age", "busy"),
    [(ALIVE, 0, True), (DEAD, 0, False), (ELSEWHERE, 50, True), (ELSEWHERE, 70, False)],
    ids=["here and alive", "here and gone", "elsewhere, a moment ago", "elsewhere, long ago"],
)
def test_processes_at_work_are_named_and_left_alone(
    demo: Cli, file: Path, name: str, age: int, busy: bool
) -> None:
    beat(demo, name, now() - timedelta(seconds=age))
    if not busy:
        demo("restore", "--replace", str(file))
        return
    before = counts(demo)
    refused = demo.refused("restore", "--replace", str(file))
    assert ":".join(name.split(":")[1:3]) in refused
    assert "--force" in refused
    assert counts(demo) == before
    demo("restore", "--replace", "--force", str(file))


def test_a_process_that_has_the_database_open_is_noticed(demo: Cli, file: Path) -> None:
    engine = create_engine(demo.database)
    demo("demo", "remove")
    with engine.connect() as connection:
        connection.execute(text("SELECT count(*) FROM contacts"))
        connection.rollback()
        done = demo.run("restore", "--replace", str(file))
        assert done.exit_code == 1
        assert "--force" in done.stderr
        assert connection.scalar(text("SELECT count(*) FROM contacts")) == 0
        connection.rollback()
        assert demo.run("restore", "--replace", "--force", str(file)).exit_code == 0
        # What has it open goes on, with the restored rows.
        assert connection.scalar(text("SELECT count(*) FROM contacts")) == 30
    engine.dispose()
    assert counts(demo)["contacts"] == 30


def test_a_database_of_something_else_is_never_touched(demo: Cli, file: Path) -> None:
    wipe(demo)
    ask(demo, "CREATE TABLE photos (name text)")
    refused = demo.refused("restore", "--replace", "--force", str(file))
    assert "not Stellwerk's" in refused
    assert ask(demo, "SELECT count(*) FROM photos") == [(0,)]


def test_what_others_built_on_the_tables_stops_the_restore(demo: Cli, file: Path) -> None:
    if demo.database.get_backend_name() == "sqlite":
        # Nothing outside the file can stand on its tables; a view inside goes with it.
        demo("restore", "--replace", str(file))
        assert counts(demo)["contacts"] == 30
        return
    ask(demo, "CREATE VIEW report AS SELECT count(*) AS people FROM contacts")
    done = demo.run("restore", "--replace", str(file))
    assert done.exit_code == 1
    assert "cannot drop" in done.stderr
    assert ask(demo, "SELECT people FROM report") == [(30,)]


def test_a_spoilt_database_is_replaced(demo: Cli, file: Path) -> None:
    expected = counts(demo)
    if demo.database.get_backend_name() == "sqlite":
        Path(str(demo.database.database)).write_bytes(b"spoilt by a bad disk" * 500)
        assert "cannot be read" in demo.refused("restore", str(file))
    else:
        ask(demo, "DROP TABLE sent_messages")
    demo("restore", "--replace", str(file))
    assert counts(demo) == expected


def test_a_killed_writer_leaves_nothing_that_spoils_the_restored_file(
    demo: Cli, file: Path
) -> None:
    if demo.database.get_backend_name() == "sqlite":
        path = str(demo.database.database)
        with closing(sqlite3.connect(path)) as writing:
            writing.execute("UPDATE contacts SET first_name = 'Lost'")
            writing.commit()
            for end in ("-wal", "-shm"):
                Path(f"{path}.kept{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        for end in ("-wal", "-shm"):
            Path(f"{path}.kept{end}").replace(f"{path}{end}")
    demo("restore", "--replace", str(file))
    lost = "SELECT count(*) FROM contacts WHERE first_name = 'Lost'"
    assert ask(demo, lost) == [(0,)]


def test_settings_that_are_there_stay_and_the_backups_lie_beside(demo: Cli, tmp_path: Path) -> None:
    env = demo.home / "stellwerk.env"
    env.write_text("STELLWERK_WORKERS=3\n")
    demo("backup", str(tmp_path / "file"))
    env.write_text("STELLWERK_WORKERS=5\n")
    said = demo("restore", "--replace", str(tmp_path / "file"))
    assert env.read_text() == "STELLWERK_WORKERS=5\n"
    beside = demo.home / "stellwerk.env.restored"
    assert beside.read_text() == "STELLWERK_WORKERS=3\n"
    assert beside.stat().st_mode & 0o777 == 0o600
    assert "compare them" in said
    env.unlink()
    assert "are in force" in demo("restore", "--replace", str(tmp_path / "file"))
    assert env.read_text() == "STELLWERK_WORKERS=3\n"


def test_another_secret_key_is_said(demo: Cli, file: Path) -> None:
    demo.env["STELLWERK_SECRET_KEY"] = "of this machine, with 32 characters or more"
    assert "links in mails" in demo("restore", "--replace", str(file))


def test_letters_come_back_and_those_that_are_there_stay(demo: Cli, tmp_path: Path) -> None:
    outbox = demo.home / "outbox"
    outbox.mkdir(exist_ok=True)
    (outbox / "one.eml").write_text("one")
    (outbox / "two.eml").write_text("two")
    demo("backup", str(tmp_path / "file"))
    (outbox / "one.eml").unlink()
    (outbox / "two.eml").write_text("newer")
    demo("restore", "--replace", str(tmp_path / "file"))
    assert (outbox / "one.eml").read_text() == "one"
    assert (outbox / "two.eml").read_text() == "newer"


def test_hints_of_before_are_forgotten(demo: Cli, file: Path) -> None:
    def waiting() -> str:
        [line] = [line for line in demo.run("doctor").stdout.splitlines() if "queue" in line[7:13]]
        return line

    demo("sweep", "steps")
    assert " 0 hints" not in waiting()
    demo("restore", "--replace", str(file))
    assert " 0 hints" in waiting()
