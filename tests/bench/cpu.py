"""CPU time of this process and of PostgreSQL: a measure that other people's load hardly changes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.places import Places

# Places in what `_stat` returns: the parent, own time (user, system), that of ended children.
_PARENT: Final = 1
_ALIVE: Final = slice(11, 13)
_ENDED: Final = slice(13, 15)


@dataclass(frozen=True)
class Cpu:
    """Seconds of CPU time used so far: by this process, and by the server with its backends."""

    client: float
    server: float

    def since(self, before: "Cpu") -> "Cpu":
        """Return what was used between two readings."""
        return Cpu(self.client - before.client, self.server - before.server)


def read(places: Places) -> Cpu:
    """Return what has been used until now."""
    pid_file = next(places.postgres.folder.glob("data/postmaster.pid"))
    postmaster = int(pid_file.read_text().splitlines()[0])
    ended = sum(_stat(postmaster)[_ENDED])
    alive = sum(
        sum(found[_ALIVE])
        for folder in Path("/proc").glob("[0-9]*")
        if (found := _stat(int(folder.name))) and found[_PARENT] == postmaster
    )
    return Cpu(time.process_time(), (ended + alive) / os.sysconf("SC_CLK_TCK"))


def _stat(pid: int) -> list[int]:
    """Return the numbers of /proc/PID/stat behind the name; a zero stands for the state."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    fields = text.rpartition(")")[2].split()
    return [0, *(int(field) for field in fields[1:])]
