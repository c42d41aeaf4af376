"""Puts a backup in the place of a database: says what it will do, then does all or nothing."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from redis.exceptions import RedisError
from sqlalchemy import Engine, text
from sqlalchemy.engine import URL

from engine.core import clock
from engine.core.boot import make_home
from engine.core.db import WRITE, Database
from engine.core.settings import Settings
from migrations import run
from tasks.backup import files, owed, postgres, rows, sqlite, target
from tasks.backup.archive import DATABASES, Manifest, Reader, damaged
from tasks.backup.target import Target
from tasks.backup.workplace import workplace
from tasks.dispatch import connect


@dataclass(frozen=True)
class Wish:
    """What the person allows. force: although processes are at work; replace: a full database."""

    force: bool = False
    replace: bool = False
    hold_mail: bool = False


@dataclass(frozen=True)
class Restored:
    """What became of it. before, after: rows by table; notes: what a person should know."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    paused: int
    notes: Sequence[str]


def restore(settings: Settings, path: Path, wish: Wish, say: Callable[[str], None]) -> Restored:
    """Put the backup at `path` in the place of the installation's database and files.

    say: gets the lines a person reads before anything happens. Raises ClickException for every
    refusal; nothing was changed then.
    """
    reader = Reader(path)
    _fits(reader.manifest, path, settings)
    reader.check()
    make_home(settings.home)
    with workplace(settings.home / "restore") as folder:
        database = Database(settings.database)
        try:
            found = _looked(database.engine, settings, wish)
            for line in _announced(reader.manifest, found, wish):
                say(line)
            paused = _put_back(reader, settings.database, database, folder, wish)
            notes = files.unpack(reader, settings, folder)
            with database.engine.connect() as connection:
                after = rows.counted(connection)
        finally:
            database.dispose()
    return Restored(found.rows, after, paused, [*notes, *_empty_queue(settings)])


def _fits(manifest: Manifest, path: Path, settings: Settings) -> None:
    kind = settings.database.get_backend_name()
    if manifest.database != kind:
        raise click.ClickException(
            f"{path} is of a {manifest.database} database, and this installation is set to {kind}; "
            "set STELLWERK_DATABASE_URL to one of the same kind."
        )
    if manifest.revision not in run.known():
        raise click.ClickException(
            f"{path} was made by a newer Stellwerk ({manifest.version}, schema "
            f"{manifest.revision}); install that version. Nothing was changed."
        )


def _looked(engine: Engine, settings: Settings, wish: Wish) -> Target:
    """Return what stands in the target, or refuse to touch it."""
    if engine.dialect.name == "sqlite" and not sqlite.location(settings.database).exists():
        return Target({})
    found = target.look(engine, clock.now())
    if not found.ours:
        raise click.ClickException(
            "the database holds tables that are not Stellwerk's; give Stellwerk one of its own "
            "with STELLWERK_DATABASE_URL. Nothing was changed."
        )
    if found.busy and not wish.force:
        raise click.ClickException(
            f"still at work here: {', '.join(found.busy)}; stop web and workers first "
            "(one that was killed on another machine counts for a minute), or say --force. "
            "Nothing was changed."
        )
    if not found.empty and not wish.replace:
        held = brief(found.rows) if found.readable else "a file that cannot be read"
        raise click.ClickException(
            f"the database is not empty: {held}. --replace puts the backup in its place. "
            "Nothing was changed."
        )
    return found


def _announced(manifest: Manifest, found: Target, wish: Wish) -> list[str]:
    """Return in numbers what the restore does, mails included."""
    lines = [
        f"The backup is of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC (schema "
        f"{manifest.revision}): {brief(manifest.rows)}.",
    ]
    if found.rows or not found.readable:
        lines.append(f"It takes the place of: {brief(found.rows) or 'a file that is no database'}.")
    return [*lines, *owed.announced(manifest.waiting, hold=wish.hold_mail)]


def brief(counted: Mapping[str, int]) -> str:
    """Return the counts that tell one installation from another, in one line."""
    names = ("workspaces", "contacts", "automations", "automation_runs", "email_sends")
    return ", ".join(f"{counted[name]} {name}" for name in names if name in counted)


def _put_back(reader: Reader, url: URL, database: Database, folder: Path, wish: Wish) -> int:
    """Replace the database and bring it up to date; return how many automations were paused."""
    at = clock.now()
    last = owed.statements(database.engine.dialect.name, at, hold=wish.hold_mail)
    if reader.manifest.database == "postgresql":
        dump = folder / postgres.MEMBER
        reader.extract(DATABASES["postgresql"], dump)
        postgres.put_back(database.engine, dump, reader.manifest.rows, last)
        run.upgrade(database.engine)
        return owed.pause(database, at) if wish.hold_mail else 0
    paused = 0

    def fill(made: Path) -> None:
        nonlocal paused
        reader.extract(DATABASES["sqlite"], made)
        with sqlite.opened(made) as beside:
            _check(beside.engine, reader)
            with beside.engine.connect().execution_options(**WRITE) as connection:
                for line in last:
                    connection.execute(text(line))
                connection.commit()
            run.upgrade(beside.engine)
            paused = owed.pause(beside, at) if wish.hold_mail else 0

    database.dispose()
    sqlite.put_back(url, fill, force=wish.force)
    return paused


def _check(engine: Engine, reader: Reader) -> None:
    """Refuse a copy that is not sound in itself or has other counts than the manifest."""
    with engine.connect() as connection:
        said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        other = rows.differences(reader.manifest.rows, rows.counted(connection))
    if said != ["ok"] or broken is not None or other:
        raise damaged(reader.path, other[0] if other else "the database in it")


def _empty_queue(settings: Settings) -> list[str]:
    """Forget the hints of before: they point at rows of another instant (decision G2)."""
    queues, _dispatch = connect(settings)
    try:
        for huey in queues.by_name.values():
            huey.flush()
    except (RedisError, sqlite3.Error, OSError) as error:
        return [f"The queue is away ({type(error).__name__}); what it holds does no harm."]
    finally:
        queues.close()
    return []
