"""What a backup would be put over: how full it is, and who is at work on it."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, column, func, select, table
from sqlalchemy.exc import DatabaseError, OperationalError

from engine.core.db import Instant
from engine.core.ticks import SILENCE
from tasks.backup import rows

_BEATS = table("heartbeats", column("name"), column("seen_at", Instant()))


@dataclass(frozen=True)
class Target:
    """A database before it is replaced.

    rows: by table; ours: whether it looks like Stellwerk's or is empty; readable: False where the
    file is no database any more; busy: processes and sessions that are at work on it.
    """

    rows: Mapping[str, int]
    ours: bool = True
    readable: bool = True
    busy: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing of a person's would be lost."""
        return self.readable and not self.rows.get("workspaces", 0)


def look(engine: Engine, at: datetime) -> Target:
    """Return what stands in a database; raises OperationalError when it does not answer."""
    try:
        with engine.connect() as connection:
            counted = rows.counted(connection)
            ours = not counted or rows.revision(connection) is not None
            busy = (*_beating(connection, counted, at), *_sessions(connection))
    except OperationalError:
        raise
    except DatabaseError:
        return Target({}, readable=False)
    return Target(counted, ours, busy=busy)


def _beating(connection: Connection, counted: Mapping[str, int], at: datetime) -> list[str]:
    """Return the processes whose heart beat a moment ago; one of this machine must still be."""
    if _BEATS.name not in counted:
        return []
    fresh = select(_BEATS.c.name).where(_BEATS.c.seen_at >= at - SILENCE)
    return sorted({_process(name) for name in connection.scalars(fresh) if not _gone(name)})


def _process(name: str) -> str:
    """Return host and number of a heart's process; the name is role:host:pid:random."""
    return ":".join(name.split(":")[1:-1])


def _gone(name: str) -> bool:
    host, _, pid = _process(name).rpartition(":")
    if host != socket.gethostname()[:60] or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _sessions(connection: Connection) -> list[str]:
    """Return who else has a session on a PostgreSQL database; SQLite's file tells by itself."""
    if connection.dialect.name == "sqlite":
        return []
    activity = table(
        "pg_stat_activity", *map(column, ("datname", "pid", "backend_type")), schema="pg_catalog"
    )
    others = connection.scalar(
        select(func.count()).where(
            activity.c.datname == func.current_database(),
            activity.c.pid != func.pg_backend_pid(),
            activity.c.backend_type == "client backend",
        )
    )
    return [f"{others} other sessions"] if others else []
