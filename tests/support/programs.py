"""The programs of the machine that tests start for real, found also outside PATH.

A test that needs one asks for it here. What is missing is left out and listed at the end of the
run; with STELLWERK_REQUIRE=all it is a failure.
"""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

PLACES: Final = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")
LEFT_OUT: Final = "left out: "


def everything_is_required() -> bool:
    """Return whether a missing program is a failure (STELLWERK_REQUIRE=all)."""
    return os.environ.get("STELLWERK_REQUIRE") == "all"


def find(name: str) -> Path | None:
    """Return the absolute path of a program, or None. PostgreSQL's newest version wins."""
    for place in [*_postgres_places(), *map(Path, PLACES)]:
        path = place / name
        if path.is_file() and os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    return Path(found).absolute() if found else None


def need(what: str, names: Iterable[str], *, root: bool = False) -> dict[str, Path]:
    """Return the paths of the programs that `what` consists of, by name.

    Where one is missing (or `root` is asked for and not given) the test is left out, or fails
    where everything is required.
    """
    wanted = tuple(names)
    paths = {name: path for name in wanted if (path := find(name)) is not None}
    absent = [name for name in wanted if name not in paths]
    if absent:
        leave_out(f"{what} (no {', '.join(absent)} on this machine)")
    if root and os.geteuid() != 0:
        leave_out(f"{what} (needs root)")
    return paths


def leave_out(what: str) -> None:
    """End the running test because of something the machine lacks."""
    if everything_is_required():
        pytest.fail(f"STELLWERK_REQUIRE=all, but missing: {what}", pytrace=False)
    pytest.skip(f"{LEFT_OUT}{what}")


def has_database_servers() -> list[str]:
    """Return what the second leg lacks: names of missing servers, empty when it can run."""
    wanted = {"PostgreSQL": ("postgres", "initdb"), "Redis": ("redis-server",)}
    return [what for what, names in wanted.items() if any(find(name) is None for name in names)]


def _postgres_places() -> list[Path]:
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return sorted(folders, key=lambda folder: _version(folder.parent.name), reverse=True)


def _version(name: str) -> float:
    return float(name) if re.fullmatch(r"\d+(\.\d+)?", name) else 0.0
