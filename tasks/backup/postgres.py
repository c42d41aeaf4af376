"""PostgreSQL out and in by its own programs: pg_dump in one snapshot, psql in one transaction.

The password travels in a file of the private folder, never as an argument.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from sqlalchemy import URL, Connection, Engine, func, inspect, select

from tasks.backup import rows
from tasks.backup.archive import Copied

MEMBER: Final = "database.sql"
_INSTALLED: Final = Path("/usr/lib/postgresql")
_PASSES: Final = "pgpass"


def copy(engine: Engine, folder: Path) -> Copied:
    """Return a dump of the database, made in `folder`.

    Dump and counts read the same snapshot.
    """
    program = need("pg_dump")
    target = folder / MEMBER
    target.touch(mode=0o600)
    reading = engine.connect().execution_options(isolation_level="REPEATABLE READ")
    with reading as connection:
        snapshot = connection.scalar(select(func.pg_export_snapshot()))
        schema = connection.scalar(select(func.current_schema()))
        copied = rows.copied(connection, target)
        _run(
            [
                program, f"--snapshot={snapshot}", f'--schema="{schema}"', "--no-owner",
                "--no-privileges", "--no-tablespaces", f"--file={target}",
                f"--dbname={_address(engine.url, folder)}",
            ]
        )  # fmt: skip
    return copied


def put_back(engine: Engine, dump: Path, expected: Mapping[str, int], last: Sequence[str]) -> None:
    """Replace every table of the schema by those of `dump`, all in one transaction.

    expected: rows by table; another count undoes everything. last: statements at its end.
    """
    program = need("psql")
    folder = dump.parent
    with engine.connect() as connection:
        schema = connection.scalar(select(func.current_schema()))
        first = _clearing(connection)
    before, after = folder / "before.sql", folder / "after.sql"
    before.write_text("".join(f"{line};\n" for line in first))
    named = [*_checks(str(schema), expected), f"SET search_path TO {_quoted(str(schema))}", *last]
    after.write_text("".join(f"{line};\n" for line in named))
    body = folder / "body.sql"
    _without_the_schema(dump, body)
    _run(
        [
            program, "--no-psqlrc", "--quiet", "--single-transaction", "--output=/dev/null",
            "--set=ON_ERROR_STOP=1", f"--dbname={_address(engine.url, folder)}",
            f"--file={before}", f"--file={body}", f"--file={after}",
        ]
    )  # fmt: skip


def need(name: str) -> Path:
    """Return the newest of PostgreSQL's own programs of this name, or refuse with the remedy."""
    places = sorted(_INSTALLED.glob("*/bin"), key=lambda place: _number(place.parent.name))
    for place in reversed(places):
        if (place / name).is_file():
            return place / name
    found = shutil.which(name)
    if found is None:
        raise click.ClickException(
            f"{name} is not on this machine; install PostgreSQL's client programs "
            "(on Debian: apt-get install postgresql-client), as new as the server or newer."
        )
    return Path(found)


def _number(version: str) -> float:
    return float(version) if re.fullmatch(r"\d+(\.\d+)?", version) else 0.0


def _address(url: URL, folder: Path) -> str:
    """Return the address for libpq without the password, which a file in `folder` holds."""
    bare = url.set(drivername="postgresql")
    if url.password is not None:
        passwords = folder / _PASSES
        passwords.touch(mode=0o600)
        escaped = str(url.password).replace("\\", "\\\\").replace(":", "\\:")
        passwords.write_text(f"*:*:*:*:{escaped}\n")
        # Without the password; SQLAlchemy's set() would keep it where it is None.
        bare = URL.create(
            "postgresql", bare.username, None, bare.host, bare.port, bare.database, bare.query
        ).update_query_dict({"passfile": str(passwords)})
    return bare.render_as_string(hide_password=False)


def _clearing(connection: Connection) -> list[str]:
    """Return what empties the schema. Never CASCADE: what others built on the tables says so."""
    tables = [*rows.tables(connection)]
    if inspect(connection).has_table(rows.VERSION_TABLE):
        tables.append(rows.VERSION_TABLE)
    # A session that holds a table must not keep the restore waiting for ever.
    waits = ["SET LOCAL lock_timeout = '30s'"]
    if not tables:
        return waits
    return [*waits, f"DROP TABLE {', '.join(map(_quoted, tables))}"]


def _checks(schema: str, expected: Mapping[str, int]) -> list[str]:
    """Return statements that fail where a table has another count of rows."""
    return [
        f"DO $check$ BEGIN IF (SELECT count(*) FROM {_quoted(schema)}.{_quoted(name)}) <> {count}"  # noqa: S608 - names are checked by the manifest
        f" THEN RAISE EXCEPTION '{name} has not {count} rows'; END IF; END $check$"
        for name, count in expected.items()
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _without_the_schema(dump: Path, body: Path) -> None:
    """Leave out the making of the schema, which is there and may be another's."""
    heads = (b"CREATE SCHEMA ", b"COMMENT ON SCHEMA ")
    copying = False
    with dump.open("rb") as read, body.open("wb") as write:
        for line in read:
            if copying or not line.startswith(heads):
                write.write(line)
            copying = line != b"\\.\n" if copying else line.startswith(b"COPY ")


def _run(command: Sequence[str | Path]) -> None:
    """Run one program to its end; its first complaint becomes ours."""
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own programs, arguments of ours
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        lines = said.splitlines() or [f"it ended with {done.returncode}"]
        worst = next((line for line in lines if "error" in line.lower()), lines[0])
        name = Path(command[0]).name
        raise click.ClickException(
            f"{name} failed: {worst.removeprefix(f'{name}: ').rstrip('.')}. Nothing was changed."
        )
