"""How many statements a page asks of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


class Counter:
    """What was asked so far."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    @property
    def count(self) -> int:
        """Return how many statements were asked."""
        return len(self.statements)


@contextmanager
def counting(engine: Engine) -> Iterator[Counter]:
    """Yield a counter that hears of every statement of `engine`."""
    counter = Counter()

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        counter.statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield counter
    finally:
        event.remove(engine, "before_cursor_execute", note)
