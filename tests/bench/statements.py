"""How long each statement takes at the cursor: driver, network and server, without SQLAlchemy."""

import re
import sys
import time
from collections import defaultdict
from typing import Any

from sqlalchemy import Engine, event


class Statements:
    """Listens to an engine and adds up the time of every statement by its text."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._began = 0.0
        self._spent: dict[str, list[float]] = defaultdict(list)
        self._commits: list[float] = []
        event.listen(engine, "before_cursor_execute", self._before)
        event.listen(engine, "after_cursor_execute", self._after)

    def _before(self, *_given: Any) -> None:
        self._began = time.perf_counter()

    def _after(self, _connection: Any, _cursor: Any, statement: str, *_given: Any) -> None:
        self._spent[_name(statement)].append(time.perf_counter() - self._began)

    def tell(self, beats: int, seconds: float) -> None:
        """Print the table to stderr: statements by total time, per beat of the walk."""
        total = sum(map(sum, self._spent.values()))
        number = sum(map(len, self._spent.values()))
        print(
            f"{beats} beats, {1_000 * seconds / beats:.1f} ms each; {number / beats:.1f} statements"
            f" and {1_000 * total / beats:.1f} ms at the cursor each",
            file=sys.stderr,
        )
        for name, times in sorted(self._spent.items(), key=lambda one: -sum(one[1])):
            print(
                f"{1_000 * sum(times) / beats:8.2f} ms a beat {len(times):5d} times"
                f" {1_000 * sum(times) / len(times):8.2f} ms each  {name}",
                file=sys.stderr,
            )


def _name(statement: str) -> str:
    text = " ".join(statement.split())
    text = re.sub(r"\(?%\([a-z_0-9]+\)s(::[A-Z ]+)?\)?(, )?", "?", text)
    text = re.sub(r"\?[?, ]*", "?", text)
    text = re.sub(r"automation_(step_)?runs\.", "", text)
    return text[:110] + (" … " + text[-60:] if len(text) > 170 else text[110:])
