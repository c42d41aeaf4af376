"""How late a waiting step is taken up by a real worker, busy and after a long time of idleness."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import make_url, text

from engine.core import clock, events
from engine.core.db import make_engine
from engine.house import House
from tasks.dispatch import connect
from tests.bench.children import Children, pause
from tests.bench.installation import Prepared, prepare
from tests.bench.lines import Line
from tests.bench.places import Db, Places
from tests.bench.walker import installation
from tests.factories import automations as make

_WAIT_S: Final = 2.0
_EVERY_S: Final = 0.25
_TAKEN: Final = text(
    "SELECT count(*) FROM automation_step_runs WHERE started_at IS NOT NULL"
    " AND status = 'completed'"
)
_WHEN: Final = text("SELECT delay_until, started_at FROM automation_step_runs ORDER BY id")


def measure(places: Places, db: Db, steps: int, idle_s: float, idle_steps: int) -> Line:
    """Return the lateness in seconds of `steps` busy ones and `idle_steps` after `idle_s` each.

    A person's wait ends two seconds after her event; one `stellwerk worker` as it is installed.
    """
    place = installation(places, db)
    queues, dispatch = connect(place.settings())
    with place.house(dispatch) as house:
        short = make.document(make.delay("wait", _WAIT_S / 60, "minutes"))
        ready = prepare(house, steps + idle_steps, short)
        with Children(1, ["app", "worker"], place.home, place.env()) as children:
            children.wait_until_ready("worker_started")
            for number in range(steps + idle_steps):
                if number >= steps:
                    _wait_until_taken(children, place.database_url, number)
                    pause(idle_s)
                _send(house, ready, number)
                pause(_EVERY_S)
            _wait_until_taken(children, place.database_url, steps + idle_steps)
        late = _lateness(place.database_url)
    queues.close()
    places.forget(place.database_url)
    return {
        "test": "lateness",
        "engine": "product",
        "db": db,
        "steps": steps,
        "p50_s": percentile(late[:steps], 50),
        "p99_s": percentile(late[:steps], 99),
        "idle_s": idle_s,
        "idle_steps": idle_steps,
        "worst_after_idle_s": max(late[steps:]),
    }


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that `part` percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * part / 100) - 1, 0)]


def _send(house: House, ready: Prepared, number: int) -> None:
    at = clock.now()
    person = ready.people[number]
    happened = events.NewEvent(ready.workspace_id, person, "event_received", "api", at, "go")
    with house.runtime.uow.begin() as session:
        assert events.record(session, [happened], at).started.total() == 1


def _wait_until_taken(children: Children, url: str, number: int) -> None:
    children.wait_for(lambda: _ask(url, _TAKEN)[0][0] == number)


def _lateness(url: str) -> list[float]:
    return [
        (_instant(started) - _instant(due)).total_seconds() for due, started in _ask(url, _WHEN)
    ]


def _instant(value: Any) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _ask(url: str, question: Any) -> Sequence[Any]:
    engine = make_engine(make_url(url))
    with engine.connect() as connection:
        rows = connection.execute(question).all()
    engine.dispose()
    return rows
