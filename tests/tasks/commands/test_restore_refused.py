"""`stellwerk restore`: what it refuses, in one line and with nothing changed."""

import json
import os
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from engine.core.clock import now
from tasks.periodic import process_name
from tests.tasks.commands.conftest import Cli
from tests.tasks.commands.kept import ask, beat, changed, counts, wipe

# A process that is there as long as the tests run: this one.
ALIVE = process_name("worker")
DEAD = ALIVE.replace(f":{os.getpid()}:", f":{2**22 + 1}:")
ELSEWHERE = "worker:another-machine:77:abcdef"


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
    plain = create_engine(demo.database)
    demo("demo", "remove")
    with plain.connect() as connection:
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
    plain.dispose()
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
