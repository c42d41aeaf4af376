"""Makes a backup: one instant of the database and what HOME holds, in one file or not at all."""

from dataclasses import dataclass
from pathlib import Path

import click

from engine.core import clock
from engine.core.boot import Runtime
from tasks.backup import files, postgres, sqlite
from tasks.backup.archive import DATABASES, Manifest, Writer, key_mark
from tasks.backup.workplace import settle, workplace


@dataclass(frozen=True)
class Made:
    """A finished backup. size: of the file, in bytes; letters: of the outbox."""

    manifest: Manifest
    size: int
    letters: int


def make(runtime: Runtime, target: Path) -> Made:
    """Write a backup of the installation to `target`, for its owner alone.

    Raises ClickException when the file exists, or when the database cannot be copied.
    """
    target = target.expanduser().absolute()
    if target.exists():
        raise click.ClickException(
            f"{target} exists; a backup never overwrites a file. Choose another name."
        )
    with workplace(target) as folder:
        draft = folder / "archive"
        writer = Writer(draft)
        try:
            at = clock.now()
            kind = runtime.database.engine.dialect.name
            copied = (
                sqlite.copy(runtime.settings.database, folder)
                if kind == "sqlite"
                else postgres.copy(runtime.database.engine, folder)
            )
            writer.add(DATABASES[kind], copied.file)
            copied.file.unlink()
            letters = files.pack(runtime.settings.home, writer)
            manifest = writer.finish(kind, copied, at, key_mark(runtime.secret_key))
        finally:
            writer.close()
        settle(draft, target)
    return Made(manifest, target.stat().st_size, letters)
