"""A worker's crew at work inside a test."""

import threading

from tasks.consumer import Crew


class Shift:
    """A crew at work in a thread of its own."""

    def __init__(self, made: Crew) -> None:
        self._crew = made
        self.drained: bool | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        self.drained = self._crew.work()

    def stop(self) -> bool | None:
        """Ask the crew to stop; return whether it drained in time."""
        self._crew.stop()
        self._thread.join(30)
        assert not self._thread.is_alive()
        return self.drained
