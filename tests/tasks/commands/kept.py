"""What tests of backups look at: rows of an installation, and files that say other things."""

import json
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.orm import Session

from engine.core import ticks
from tests.tasks.commands.conftest import Cli


def ask(cli: Cli, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of one statement; what it changes is kept."""
    plain: Engine = create_engine(cli.database)
    try:
        with plain.begin() as connection:
            done = connection.execute(text(statement))
            return [tuple(row) for row in done] if done.returns_rows else []
    finally:
        plain.dispose()


def beat(cli: Cli, name: str, at: datetime) -> None:
    """Leave the heartbeat of a process."""
    plain = create_engine(cli.database)
    with Session(plain) as session:
        ticks.beat(session, "worker", name, at)
        session.commit()
    plain.dispose()


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
