"""Named places where a process may vanish: between two commits, around every hand-over.

Active only under STELLWERK_TESTING; otherwise `point` looks at one name and returns. Tests arm a
point in a thread (Crash) or, by STELLWERK_FAULTS, in a process of its own (SIGKILL, SIGSTOP).
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# Every point, in the order in which one step and its mail pass them.
POINTS: Final = (
    "tick.claimed",  # the tick of a sweep is taken, the sweep has not begun
    "commit.begun",  # the work of a transaction is done, its last writes are not
    "commit.written",  # everything is written, nothing is committed
    "hints.before",  # committed; the queue knows nothing yet
    "hints.given",  # the queue has the hints of a commit
    "commit.done",  # committed and handed over; the caller knows nothing yet
    "walk.claimed",  # the claim stands, nothing has run
    "walk.ran",  # the outcomes are known, none is written
    "walk.settled",  # the outcomes are written, the next beat has not begun
    "send.handing",  # the server waits for the body; the hand-over is not committed
    "send.handed",  # the hand-over is committed, the body has not left
    "send.left",  # the body has left, the answer has not come
    "send.answered",  # the answer has come, it is not written
    "send.settled",  # this message is written, the next of the batch has not begun
    "http.asking",  # a call to the web of others is about to be made
    "http.answered",  # that call was answered, and nothing is written
)

CRASH: Final = "crash"
KILL: Final = "kill"
STOP: Final = "stop"
_SIGNALS: Final = {KILL: signal.SIGKILL, STOP: signal.SIGSTOP}


class Crash(BaseException):
    """The worker is gone, as far as this thread can be: no handler of the product catches it."""


@dataclass(frozen=True)
class Trap:
    """At the `nth` pass of a point (from 1, counted since the traps were set), act once."""

    name: str
    nth: int
    action: str

    def __post_init__(self) -> None:
        """Refuse what no process can do."""
        if self.name not in POINTS:
            raise ValueError(f"{self.name!r} is no fault point; known are {', '.join(POINTS)}")
        if self.nth < 1 or self.action not in (CRASH, *_SIGNALS):
            raise ValueError("must be point:nth:crash, point:nth:kill or point:nth:stop")


class Watch:
    """Counts passes and springs traps; shared by the threads of a process."""

    def __init__(self, traps: Iterable[Trap]) -> None:
        self.passed: Counter[str] = Counter()
        self.sprung: Counter[str] = Counter()
        self._traps = {(trap.name, trap.nth): trap.action for trap in traps}
        self._lock = threading.Lock()

    def pass_by(self, name: str) -> None:
        """Count one pass; act where a trap says so."""
        if name not in POINTS:
            raise ValueError(name)
        with self._lock:
            self.passed[name] += 1
            action = self._traps.pop((name, self.passed[name]), None)
            if action is not None:
                self.sprung[name] += 1
        if action == CRASH:
            raise Crash(name)
        if action is not None:
            os.kill(os.getpid(), _SIGNALS[action])


_watch: Watch | None = None
_permitted = False


def point(name: str) -> None:
    """Mark a place where the process may vanish. name: one of POINTS."""
    if _watch is not None:
        _watch.pass_by(name)


def permit(*, testing: bool, planned: str | None) -> None:
    """Called at boot. Without `testing` nothing can ever be armed in this process.

    planned: traps of STELLWERK_FAULTS, as `read_traps` takes them.
    """
    global _permitted
    _permitted = testing
    disarm()
    if testing and planned:
        arm(*read_traps(planned))


def arm(*traps: Trap) -> Watch:
    """Set traps, instead of all that were set before; without any, passes are only counted.

    Raises RuntimeError outside STELLWERK_TESTING.
    """
    global _watch
    if not _permitted:
        raise RuntimeError("faults are for tests only: STELLWERK_TESTING is not set")
    _watch = Watch(traps)
    return _watch


def disarm() -> None:
    """Let every point be passed freely and uncounted."""
    global _watch
    _watch = None


def read_traps(text: str) -> tuple[Trap, ...]:
    """Return the traps of a comma list `point:nth:action`. Raises ValueError in words."""
    traps = []
    for part in text.split(","):
        name, _, rest = part.strip().partition(":")
        nth, _, action = rest.partition(":")
        if not nth.isdecimal():
            raise ValueError("must be a list of point:nth:action")
        traps.append(Trap(name, int(nth), action))
    return tuple(traps)
