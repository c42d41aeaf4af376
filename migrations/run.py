"""Applies migrations and tells whether schema and program fit.

`setup`, `up`, `web` and `worker` upgrade first; an older program refuses a newer schema.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from engine.core.db import EMBEDDED, WRITE, Base

FOLDER: Final = Path(__file__).parent
# Any number that no other program on the same server uses as its advisory lock.
_LOCK: Final = 7_351_973


class NewerSchema(Exception):
    """The database was migrated by a newer program; this one must not touch it."""


def upgrade(engine: Engine, target: str = "head") -> None:
    """Bring the schema to `target`. Several processes may call this at once: one does the work.

    Raises NewerSchema when the database knows a revision that this program does not.
    """
    with _locked(engine) as connection:
        _refuse_newer(connection)
        command.upgrade(_config(connection), target)


def downgrade(engine: Engine, target: str) -> None:
    """Take the schema back to `target`; for tests and for a person who knows."""
    with _locked(engine) as connection:
        command.downgrade(_config(connection), target)


def check(engine: Engine) -> list[str]:
    """Return what differs between the schema and the program's rows; empty when they fit."""
    with engine.connect() as connection:
        _refuse_newer(connection)
        script = ScriptDirectory.from_config(_config(connection))
        opts = {"compare_type": True, "include_object": _belongs_to(connection)}
        context = MigrationContext.configure(connection, opts=opts)
        if context.get_current_revision() != script.get_current_head():
            return [
                f"the schema is at {context.get_current_revision()}, the program needs "
                f"{script.get_current_head()}: run `stellwerk db upgrade`"
            ]
        return [str(change) for change in compare_metadata(context, Base.metadata)]


@cache
def known() -> frozenset[str]:
    """Return every revision that this program has; read once, as the program was started."""
    scripts = ScriptDirectory(str(FOLDER)).walk_revisions()
    return frozenset(script.revision for script in scripts)


def newer(connection: Connection) -> str | None:
    """Return the revision of a migrated schema that this program does not know; None: it fits.

    One small read, for those who ask again and again while they run (UPG-05).
    """
    current = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return current if current is not None and current not in known() else None


def _belongs_to(connection: Connection) -> Callable[..., bool]:
    """Return what tells the comparison which parts of the rows this database has at all."""
    embedded = connection.dialect.name == "sqlite"

    def belongs(item: Any, *_what: object) -> bool:
        return embedded or not getattr(item, "info", {}).get(EMBEDDED)

    return belongs


def _refuse_newer(connection: Connection) -> None:
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in known():
        raise NewerSchema(
            f"the database has schema {current}, made by a newer Stellwerk. "
            "Install that version, or restore a backup made before the upgrade."
        )


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    return config


@contextmanager
def _locked(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that alone may migrate; everything is one transaction."""
    with engine.connect().execution_options(**WRITE) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield connection
