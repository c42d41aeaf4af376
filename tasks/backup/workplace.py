"""A private folder beside a target, for what is not whole yet; gone afterwards, come what may.

Beside the target, so that the finished file only needs a new name. A killed process leaves the
folder behind; the next one finds it without an owner and takes it over.
"""

import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click


@contextmanager
def workplace(target: Path) -> Iterator[Path]:
    """Yield an empty folder for this process alone, beside `target`.

    SIGTERM unwinds like Ctrl-C while it stands. Raises ClickException when another process works
    on the same target.
    """
    folder = target.with_name(f".{target.name}.part")
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _take(handle, target)
        _empty(folder)
        try:
            with _unwinding():
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def settle(source: Path, target: Path) -> None:
    """Give a finished file its name, durably."""
    with source.open("rb") as written:
        os.fsync(written.fileno())
    source.replace(target)
    handle = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _take(handle: int, target: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise click.ClickException(
            f"another process is at work on {target}; wait for it, or choose another name."
        ) from None


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        left.unlink()


@contextmanager
def _unwinding() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
