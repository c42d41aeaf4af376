"""A house whose walkers and sweeps only note what they were asked for."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from engine.core.boot import Runtime
from engine.house import House


class RecordingWalker:
    """Notes every walk; `hold` makes the next one wait until it is released."""

    def __init__(self) -> None:
        self.walked: list[tuple[object, ...]] = []
        self.begun = threading.Event()
        self.hold: threading.Event | None = None

    def walk(self, *arguments: object) -> None:
        """Note the arguments; wait when told so."""
        self.begun.set()
        if self.hold is not None:
            self.hold.wait(30)
        self.walked.append(arguments)

    def ids(self) -> list[int]:
        """Return every id that was walked, in order."""
        return [one for *_key, ids in self.walked for one in cast("Sequence[int]", ids)]


class FakeHouse:
    """Use as `engine.house.House` in tests of the edge."""

    def __init__(self, runtime: Runtime, sweeps: Sequence[str] = ()) -> None:
        self.runtime = runtime
        self.steps = RecordingWalker()
        self.sends = RecordingWalker()
        self.swept: list[str] = []
        self.sweeps: Mapping[str, Callable[[], Mapping[str, int]]] = {
            name: self._sweep(name) for name in sweeps
        }
        self.bounded: Mapping[str, Callable[[], Mapping[str, int]]] = {}

    def _sweep(self, name: str) -> Callable[[], Mapping[str, int]]:
        def sweep() -> Mapping[str, int]:
            self.swept.append(name)
            return {"walked": 1}

        return sweep

    def as_house(self) -> House:
        """Return the fake for those who ask for the real type."""
        return cast(House, self)
