"""A schema as its database spells it: columns, indexes, constraints."""

import re
from typing import Final

from sqlalchemy import Engine, inspect, text

# The commas between the clauses of a table, not those within parentheses.
_CLAUSES: Final = re.compile(r",(?![^()]*\))")


def definitions(engine: Engine) -> dict[str, str]:
    """Return every index and constraint of the schema as the database itself spells it."""
    if engine.dialect.name == "sqlite":
        query = (
            "SELECT type || ' ' || name, sql FROM sqlite_master"
            " WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'"
        )
    else:
        query = (
            "SELECT 'index ' || indexname, indexdef FROM pg_indexes"
            " WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            " UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname,"
            " pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE connamespace = 'public'::regnamespace"
            " AND conrelid::regclass::text <> 'alembic_version'"
        )
    with engine.connect() as connection:
        return {name: _spelled(sql) for name, sql in connection.execute(text(query))}


def _spelled(sql: str) -> str:
    """Return a definition without its layout; the clauses of a table come in any order."""
    if not sql.startswith("CREATE TABLE"):
        return " ".join(sql.split())
    name, _, clauses = sql.partition("(")
    # A column that was added later stands behind the last one, on its line.
    parts = (
        " ".join(clause.split()) for clause in _CLAUSES.split(clauses.rstrip().removesuffix(")"))
    )
    return name + ", ".join(sorted(parts))


def columns(engine: Engine) -> dict[str, list[tuple[str, str, bool]]]:
    """Return name, type and nullability of every column, by table."""
    looker = inspect(engine)
    return {
        table: sorted(
            (column["name"], str(column["type"]), bool(column["nullable"]))
            for column in looker.get_columns(table)
        )
        for table in looker.get_table_names()
        if table != "alembic_version"
    }
