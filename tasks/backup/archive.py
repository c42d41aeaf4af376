"""The backup file: a zip of members, and a manifest that says what they are.

Written under another name and renamed when whole. Every byte of a member is checked against the
manifest before anything is put back; the zip's own sums guard the manifest.
"""

import errno
import hashlib
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import IO, Final, Literal

import click
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASES: Final = {"sqlite": "database.sqlite", "postgresql": "database.sql"}
# What a member may be called: a name from a foreign file must never lead out of HOME.
_MEMBER: Final = re.compile(
    r"database\.(?:sqlite|sql)|secret\.key|stellwerk\.env|outbox/[\w-]+\.eml"
)
_TABLE: Final = r"^[a-z_][a-z0-9_]*$"
_CHUNK: Final = 1 << 20
# What the library raises where a byte of the zip itself was changed.
_BROKEN: Final = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, ValueError, RuntimeError,
)  # fmt: skip


class Member(BaseModel):
    """One file inside: its size in bytes and its SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Waiting(BaseModel):
    """What was owed: mails queued and not begun, runs under way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mails: int = Field(ge=0)
    runs: int = Field(ge=0)


class Manifest(BaseModel):
    """What a backup is of. rows: how many each table had; key_mark: tells secret keys apart."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    product: Literal["stellwerk"]
    format: Literal[1]
    version: str
    # `schema` is a name of the library's own.
    revision: str
    database: Literal["sqlite", "postgresql"]
    created_at: AwareDatetime
    rows: Mapping[str, int]
    waiting: Waiting
    key_mark: str
    members: Mapping[str, Member]


@dataclass(frozen=True)
class Copied:
    """One instant of a database in a file: its revision, rows by table, what was owed."""

    file: Path
    revision: str
    rows: Mapping[str, int]
    waiting: Waiting


def key_mark(secret_key: str) -> str:
    """Return a few characters that tell one secret key from another and give none away."""
    return hashlib.sha256(f"stellwerk:{secret_key}".encode()).hexdigest()[:12]


class Writer:
    """Fills one archive. Nothing but `finish` makes it whole: the manifest comes last."""

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600, exist_ok=False)
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._members: dict[str, Member] = {}

    def add(self, name: str, source: Path) -> None:
        """Add a file under `name`."""
        with source.open("rb") as read, self._zip.open(name, "w", force_zip64=True) as write:
            self._members[name] = _copy(read, write)

    def finish(self, database: str, copied: Copied, at: datetime, mark: str) -> Manifest:
        """Write the manifest and close the file. mark: see key_mark()."""
        manifest = Manifest.model_validate(
            {
                "product": "stellwerk",
                "format": FORMAT,
                "version": _version(),
                "revision": copied.revision,
                "database": database,
                "created_at": at,
                "rows": copied.rows,
                "waiting": copied.waiting,
                "key_mark": mark,
                "members": self._members,
            }
        )
        self._zip.writestr(MANIFEST, manifest.model_dump_json(indent=1))
        self._zip.close()
        return manifest

    def close(self) -> None:
        """Let go of the file; without `finish` before, it stays no backup."""
        self._zip.close()


class Reader:
    """An opened archive. Everything that is wrong with it is one line for a person."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = _manifest_of(path)

    def extract(self, name: str, target: Path) -> None:
        """Write the member `name` to `target`, for its owner alone, and check every byte."""
        target.touch(mode=0o600)
        with target.open("wb") as write:
            self._read(name, write)

    def check(self) -> None:
        """Read every member once and refuse the file where one is not as it was written."""
        for name in self.manifest.members:
            self._read(name, None)

    def _read(self, name: str, write: IO[bytes] | None) -> None:
        expected = self.manifest.members[name]
        with (
            _told_as(damaged(self.path, name)),
            zipfile.ZipFile(self.path) as opened,
            opened.open(name) as read,
        ):
            found = _copy(read, write, most=expected.size)
        if found != expected:
            raise damaged(self.path, name)

    def names(self, folder: str) -> list[str]:
        """Return the members that begin with `folder`."""
        return [name for name in self.manifest.members if name.startswith(folder)]


def damaged(path: Path, what: str) -> click.ClickException:
    """Return the refusal of a file that is not as it was written."""
    return click.ClickException(
        f"{path} is damaged ({what} is not as it was written); nothing was changed. "
        "Take another backup, or fetch this one again."
    )


@contextmanager
def _told_as(refusal: click.ClickException) -> Iterator[None]:
    """Turn whatever a broken zip makes the library raise into `refusal`."""
    try:
        yield
    except _BROKEN:
        raise refusal from None
    except OSError as error:
        # A place in the file that cannot be: the zip points there, not the machine.
        if error.errno != errno.EINVAL:
            raise
        raise refusal from None


def _manifest_of(path: Path) -> Manifest:
    foreign = click.ClickException(
        f"{path} is no backup of Stellwerk, or only the beginning of one; nothing was changed. "
        "Give a file that `stellwerk backup` has written."
    )
    with _told_as(foreign), zipfile.ZipFile(path) as opened:
        held = sorted(opened.namelist())
        manifest = Manifest.model_validate_json(opened.read(MANIFEST))
    known = sorted([MANIFEST, *manifest.members])
    if held != known or not all(_MEMBER.fullmatch(name) for name in manifest.members):
        raise damaged(path, "the list of its parts")
    if DATABASES[manifest.database] not in manifest.members:
        raise damaged(path, "the list of its parts")
    if not all(re.match(_TABLE, table) for table in manifest.rows):
        raise damaged(path, "the list of its tables")
    return manifest


def _copy(read: IO[bytes], write: IO[bytes] | None, most: int | None = None) -> Member:
    """Copy a stream; return what went through. most: stop beyond so many bytes (a zip bomb)."""
    seen, size = hashlib.sha256(), 0
    while chunk := read.read(_CHUNK):
        size += len(chunk)
        if most is not None and size > most:
            break
        seen.update(chunk)
        if write is not None:
            write.write(chunk)
    return Member(size=size, sha256=seen.hexdigest())


def _version() -> str:
    return metadata.version("stellwerk")
