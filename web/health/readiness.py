"""Whether this process can work: the database answers and its schema is the one we know."""

from dataclasses import dataclass
from functools import lru_cache

from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from migrations.run import FOLDER


@dataclass(frozen=True)
class Readiness:
    """database: it answers; schema: it is at the newest revision this program knows."""

    database: bool
    schema: bool

    @property
    def ready(self) -> bool:
        """Whether requests may be sent here."""
        return self.database and self.schema


def look(engine: Engine) -> Readiness:
    """Ask the database, once, without a lock."""
    try:
        with engine.connect() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
    except SQLAlchemyError:
        return Readiness(database=False, schema=False)
    return Readiness(database=True, schema=current == _newest())


@lru_cache(maxsize=1)
def _newest() -> str | None:
    return ScriptDirectory(str(FOLDER)).get_current_head()
