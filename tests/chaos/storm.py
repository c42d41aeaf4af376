"""What happens to an installation at random moments, drawn from a seed: kills, losses, restarts."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.chaos.plant import FASTER, Plant

# Longer than a lease, by the engine's clock.
STANDSTILL_S: Final = 125 / FASTER
REDIS_AWAY_S: Final = 20.0
_FLUSHES: Final = 3

Stroke = tuple[float, str, Callable[[], None]]


class Storm:
    """A timetable of strokes; the first comes once both workers have begun to work."""

    def __init__(
        self,
        plant: Plant,
        dice: random.Random,
        kills: int,
        seconds: float,
        busy: Callable[[], bool],
    ) -> None:
        """busy: whether a worker holds anything now; most kills wait for such a moment."""
        self._plant, self._dice, self._busy = plant, dice, busy
        self._over = threading.Event()
        self._frozen: list[int] = []
        self.done: Counter[str] = Counter()
        strokes: list[Stroke] = [
            *((dice.uniform(0, seconds), "SIGKILL", self._kill) for _ in range(kills)),
            *((dice.uniform(0, seconds), "flush", plant.flush) for _ in range(_FLUSHES)),
            *self._standstill(seconds / 3),
            (seconds / 2, "SIGTERM", self._end),
        ]
        if plant.redis is not None and plant.postgres is not None:
            redis, postgres = plant.redis, plant.postgres
            strokes += [
                (seconds / 4, "Redis away", redis.go_away),
                (seconds / 4 + REDIS_AWAY_S, "Redis back", redis.come_back),
                (seconds * 0.6, "PostgreSQL fast", lambda: postgres.restart(signal.SIGINT)),
                (seconds * 0.8, "PostgreSQL immediate", lambda: postgres.restart(signal.SIGQUIT)),
            ]
        self._strokes = sorted(strokes, key=lambda stroke: stroke[0])

    def rage(self) -> None:
        """Let every stroke fall at its time."""
        began = time.monotonic()
        for at, name, act in self._strokes:
            self._over.wait(max(0.0, began + at - time.monotonic()))
            act()
            self.done[name] += 1

    def told(self) -> str:
        """Return what happened, in words."""
        return ", ".join(f"{name} {times}" for name, times in self.done.items())

    def cut_short(self) -> int:
        """Return how many workers were cut off in the middle of what they did."""
        return self.done["SIGKILL"] + self.done["SIGSTOP"]

    def _standstill(self, at: float) -> list[Stroke]:
        frozen = []

        def freeze() -> None:
            frozen.append(self._plant.freeze(0))
            self._frozen.append(frozen[0].pid)

        def thaw() -> None:
            self._plant.thaw(frozen[0])
            self._frozen.clear()

        return [(at, "SIGSTOP", freeze), (at + STANDSTILL_S, "SIGCONT", thaw)]

    def _victim(self) -> int:
        """Return the place of a worker that does not stand still; mostly the older one."""
        places = [
            place
            for place, worker in enumerate(self._plant.workers)
            if worker.pid not in self._frozen
        ]
        return self._dice.choice([places[0], places[0], places[-1]])

    def _kill(self) -> None:
        looks = self._dice.choice([0, 300, 300, 300])
        while looks and not self._busy():
            self._over.wait(0.003)
            looks -= 1
        self._plant.kill(self._victim())

    def _end(self) -> None:
        self._plant.end(self._victim())
