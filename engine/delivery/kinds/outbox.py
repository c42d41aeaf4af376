"""The built-in outbox: without a mail server each letter is kept as an .eml file in HOME/outbox.

Nothing leaves the machine, and the reply says so. A file appears whole or not at all.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.core.outcome import Refused
from engine.core.settings import Settings
from engine.delivery.kinds.base import (
    OUTBOX_UNWRITABLE,
    Accepted,
    Delivery,
    Letter,
    NotHandedOver,
    Rejected,
)

FOLDER: Final = "outbox"
KEPT: Final = "kept in the outbox"


class Outbox:
    """Keeps letters in a folder, one file a send, named by the send's public id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_settings(cls, settings: Settings) -> "Outbox":
        """Return the outbox of an installation."""
        return cls(settings.home / FOLDER)

    def transmit(self, letter: Letter, hand_over: Callable[[], bool]) -> Delivery:
        """Keep the letter; the same letter again replaces its file."""
        draft = self._folder / f".{letter.public_id}.part"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write(draft, letter.content)
        except OSError as error:
            return Rejected(OUTBOX_UNWRITABLE, _reason(error), temporary=True)
        if not hand_over():
            draft.unlink(missing_ok=True)
            return NotHandedOver()
        try:
            draft.replace(self._folder / f"{letter.public_id}.eml")
            _sync_folder(self._folder)
        except OSError as error:
            return Rejected(OUTBOX_UNWRITABLE, _reason(error), temporary=True)
        return Accepted(KEPT)

    def handshake(self) -> str | Refused:
        """Write and remove a file, so that a full or foreign disk shows before the first mail."""
        probe = self._folder / ".probe"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write(probe, b"")
            probe.unlink()
        except OSError as error:
            return Refused("outbox_unwritable", params={"reason": _reason(error)})
        return f"no mail server is set: mail is {KEPT} at {self._folder}"

    def close(self) -> None:
        """Nothing is held open."""


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    # A rename is durable only once the folder itself is on the disk.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
