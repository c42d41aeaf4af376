"""Waiting for a condition instead of for a time, and ports that nobody uses."""

import socket
import time
from collections.abc import Callable
from typing import Literal, TypeVar

ResultT = TypeVar("ResultT")


def wait_for(
    condition: Callable[[], ResultT | Literal[False] | None],
    what: str,
    seconds: float = 30.0,
    *,
    ignore: type[Exception] | tuple[type[Exception], ...] = (),
) -> ResultT:
    """Return the first true answer of `condition`, asked again and again for up to `seconds`.

    Raises AssertionError naming `what` when none came. Errors of `ignore` count as "not yet".
    """
    end = time.monotonic() + seconds
    pause = 0.005
    seen: object = None
    while True:
        try:
            seen = condition()
        except ignore as error:
            seen = error
        else:
            if seen:
                return seen
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what} (last seen: {seen!r})")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


def free_port() -> int:
    """Return a TCP port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Return whether something accepts connections on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
