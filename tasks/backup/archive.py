"""The backup file: a zip of members, and a manifest that says what they are.

Written under another name and renamed when whole. Every byte of a member is checked against the
manifest before anything is put back; the zip's own sums guard the manifest.
"""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import IO, Final, Literal

import click
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASES: Final = {"sqlite": "database.sqlite", "postgresql": "database.sql"}
# What a member may be called: a name from a foreign file must never lead out of HOME.
_MEMBER: Final = re.compile(
    r"database\.(?:sqlite|sql)|secret\.key|stellwerk\.env|outbox/[\w-]+\.eml"
)
_TABLE: Final = r"^[a-z_][a-z0-9_]*$"
_CHUNK: Final = 1 << 20
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError)


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
        expected = self.manifest.members[name]
        target.touch(mode=0o600)
        try:
            with (
                zipfile.ZipFile(self.path) as opened,
                opened.open(name) as read,
                target.open("wb") as write,
            ):
                found = _copy(read, write, most=expected.size)
        except _BROKEN:
            raise damaged(self.path, name) from None
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


def _manifest_of(path: Path) -> Manifest:
    foreign = click.ClickException(
        f"{path} is no backup of Stellwerk, or only the beginning of one; nothing was changed. "
        "Give a file that `stellwerk backup` has written."
    )
    try:
        with zipfile.ZipFile(path) as opened:
            held = sorted(opened.namelist())
            content = opened.read(MANIFEST)
        manifest = Manifest.model_validate_json(content)
    except (*_BROKEN, ValidationError):
        raise foreign from None
    known = sorted([MANIFEST, *manifest.members])
    if held != known or not all(_MEMBER.fullmatch(name) for name in manifest.members):
        raise damaged(path, "the list of its parts")
    if DATABASES[manifest.database] not in manifest.members:
        raise damaged(path, "the list of its parts")
    if not all(re.match(_TABLE, table) for table in manifest.rows):
        raise damaged(path, "the list of its tables")
    return manifest


def _copy(read: IO[bytes], write: IO[bytes], most: int | None = None) -> Member:
    """Copy a stream; return what went through. most: stop beyond so many bytes (a zip bomb)."""
    seen, size = hashlib.sha256(), 0
    while chunk := read.read(_CHUNK):
        size += len(chunk)
        if most is not None and size > most:
            break
        seen.update(chunk)
        write.write(chunk)
    return Member(size=size, sha256=seen.hexdigest())


def _version() -> str:
    return metadata.version("stellwerk")
