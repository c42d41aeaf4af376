"""How much one call of the benchmark measures."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Size:
    """How much is measured: rounds, runs of the quick engines and of the slow ones.

    crowd: runs that the console shows.
    """

    name: str
    rounds: int
    quick: int
    slow: int
    single: int
    with_dbos: bool
    waiting: int
    changed: int
    memory_steps: int
    late: int
    idle_s: float
    idle_times: int
    crowd: int


SMALL: Final = Size(
    "small", 1, 2_000, 300, 500, False, 50_000, 20_000, 20_000, 40, 10.0, 1, 100_000
)
FULL: Final = Size(
    "full", 3, 5_000, 2_000, 2_000, True, 1_000_000, 100_000, 200_000, 120, 60.0, 3, 1_000_000
)
SIZES: Final = {size.name: size for size in (SMALL, FULL)}
