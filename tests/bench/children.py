"""Child processes of a measurement: started quietly, told when to begin, stopped by their id."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.waiting import wait_for

READY: Final = "ready"
_LOOK_S: Final = 0.02
_LONGEST_S: Final = 240.0


class Children:
    """Processes that all run `python -m <arguments>`; stopped when the block ends."""

    def __init__(
        self, number: int, arguments: Sequence[str], folder: Path, env: Mapping[str, str] | None
    ) -> None:
        self._log = folder / "children.log"
        named = {"PATH": os.defpath, **(env or {})}
        with self._log.open("wb") as output:
            self._processes = [
                subprocess.Popen(
                    [sys.executable, "-m", *arguments],
                    env=named, stdin=subprocess.PIPE, stdout=output, stderr=output,
                )
                for _ in range(number)
            ]  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            print(self.log()[-4_000:], file=sys.stderr)
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    @property
    def pids(self) -> list[int]:
        """Return the process ids."""
        return [process.pid for process in self._processes]

    def log(self) -> str:
        """Return what they printed so far."""
        return self._log.read_text(errors="replace")

    def wait_until_ready(self, word: str = READY) -> None:
        """Return once each has printed `word`."""
        self._all_alive()
        wait_for(lambda: self.log().count(word) >= len(self._processes), word, 60)

    def go(self) -> None:
        """Tell each to begin: a child waits for a line on its input (`wait_for_go`)."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()

    def wait_for(self, done: Callable[[], bool]) -> None:
        """Look again and again until `done`; raises when a child died or it takes too long."""
        end = time.monotonic() + _LONGEST_S
        while not done():
            self._all_alive()
            if time.monotonic() > end:
                raise AssertionError("the measurement did not end")
            pause(_LOOK_S)

    def _all_alive(self) -> None:
        for process in self._processes:
            if process.poll() is not None:
                raise AssertionError(f"a child ended with {process.returncode}")


def pause(seconds: float) -> None:
    """Let time pass: between two looks, or because a measurement is about idleness."""
    threading.Event().wait(seconds)


def wait_for_go() -> None:
    """Say that this child is ready, and wait until its parent tells it to begin."""
    print(READY, flush=True)
    sys.stdin.readline()
