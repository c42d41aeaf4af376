"""Counts of every table of a database, whatever version of the schema it has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, column, func, inspect, select, table

from engine.automations.models import RUNNING
from engine.delivery.models import QUEUED
from tasks.backup.archive import Copied, Waiting

VERSION_TABLE: Final = "alembic_version"


def tables(connection: Connection) -> list[str]:
    """Return the tables of the schema, that of its revision left out."""
    return sorted(name for name in inspect(connection).get_table_names() if name != VERSION_TABLE)


def counted(connection: Connection) -> Mapping[str, int]:
    """Return how many rows each table has."""
    return {
        name: connection.scalar(select(func.count()).select_from(table(name))) or 0
        for name in tables(connection)
    }


def revision(connection: Connection) -> str | None:
    """Return the revision of the schema; None where it has none."""
    if VERSION_TABLE not in inspect(connection).get_table_names():
        return None
    return connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))


def copied(connection: Connection, file: Path) -> Copied:
    """Return what is known of the database that `file` is a copy of."""
    return Copied(file, revision(connection) or "", counted(connection), waiting(connection))


def waiting(connection: Connection) -> Waiting:
    """Return what the installation owes at this instant."""
    sends = table("email_sends", column("status"), column("handed_over_at"))
    runs = table("automation_runs", column("status"))
    counts = (
        select(func.count()).where(sends.c.status == QUEUED, sends.c.handed_over_at.is_(None)),
        select(func.count()).where(runs.c.status == RUNNING),
    )
    mails, under_way = (connection.scalar(each) or 0 for each in counts)
    return Waiting(mails=mails, runs=under_way)


def differences(expected: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    """Return each table whose count is not the expected one, in words."""
    return [
        f"{name}: {found.get(name, 0)} rows instead of {expected.get(name, 0)}"
        for name in sorted({*expected, *found})
        if expected.get(name, 0) != found.get(name, 0)
    ]
