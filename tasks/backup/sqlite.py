"""SQLite out and in: a consistent copy while everything runs, and a swap that is one rename."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import click
from sqlalchemy import URL

from engine.core.db import Database
from tasks.backup import rows
from tasks.backup.archive import Copied
from tasks.backup.workplace import settle, workplace

MEMBER: Final = "database.sqlite"
_BUSY_S: Final = 30
_BESIDE: Final = ("-wal", "-shm", "-journal")


def copy(url: URL, folder: Path) -> Copied:
    """Return a copy of the database, made in `folder`.

    The copy is one instant of the database: the online backup reads it in one transaction, which
    keeps nobody from writing.
    """
    source = location(url)
    if not source.is_file():
        raise click.ClickException(f"there is no database at {source}; check STELLWERK_HOME.")
    target = folder / MEMBER
    target.touch(mode=0o600)
    try:
        _pour(source, target)
    except sqlite3.Error as error:
        raise click.ClickException(
            f"the database cannot be copied: {error}. Check {source} and the room on the disk of "
            f"{folder.parent}; nothing was written."
        ) from None
    with opened(target) as database, database.engine.connect() as connection:
        return rows.copied(connection, target)


def location(url: URL) -> Path:
    """Return the file of a SQLite address."""
    return Path(url.database or "").absolute()


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Yield the database of one SQLite file and let go of it."""
    database = Database(URL.create("sqlite", database=str(path)))
    try:
        yield database
    finally:
        database.dispose()


def put_back(url: URL, fill: Callable[[Path], None], *, force: bool) -> None:
    """Replace the database by the one that `fill` makes, all or nothing.

    fill: makes a whole SQLite file at the path it is given, beside the target. force: replace what
    is inside the file where a process has it open; otherwise that is a ClickException.
    """
    target = location(url)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with workplace(target) as folder:
        made = folder / MEMBER
        fill(made)
        _fold(made)
        if _let_go_of(target):
            settle(made, target)
            # What a crash left beside the old file must not be taken for the new one's.
            for end in _BESIDE:
                Path(f"{target}{end}").unlink(missing_ok=True)
        elif force:
            _pour(made, target)
        else:
            raise click.ClickException(
                f"a process has {target} open; stop web and workers, then restore again, or say "
                "--force. Nothing was changed."
            )


def _let_go_of(target: Path) -> bool:
    """Return whether nobody has the old database open; all of it is in its one file then.

    A file that is no database any more is nobody's.
    """
    if not target.exists():
        return True
    try:
        _fold(target)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return False
        raise
    except sqlite3.DatabaseError:
        return True
    return True


def _pour(made: Path, target: Path) -> None:
    """Write every page in one transaction of `target`; whoever has it open sees it afterwards."""
    with (
        closing(sqlite3.connect(made, timeout=_BUSY_S)) as read,
        closing(sqlite3.connect(target, timeout=_BUSY_S)) as write,
    ):
        read.backup(write)


def _fold(path: Path) -> None:
    """Leave write-ahead mode: only the one connection that is left may, and all is in the file."""
    with closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
