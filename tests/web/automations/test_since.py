"""How long after entering people come to a step, as its card says it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from engine.automations.graph import link
from tests.factories import automations as making
from web.automations import since
from web.automations.since import Span

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def _told(*steps: dict[str, Any]) -> dict[str, str]:
    plain = [{"next": None, **step} for step in steps]
    spans = since.spans(link(plain))
    return {step["key"]: since.words(spans.get(step["key"])) for step in plain}


def test_waits_add_up_along_the_way() -> None:
    assert _told(
        making.email("hello", None), making.delay("short", 2, "hours"),
        making.delay("long", 3), making.email("bye", None),
    ) == {
        "hello": "day 0 since entry",
        "short": "2 hours since entry",
        "long": "day 3 since entry",
        "bye": "day 3 since entry",
    }  # fmt: skip


def test_where_two_ways_meet_both_are_told() -> None:
    told = _told(
        making.branch("fork", yes="meet"), making.delay("wait", 4), making.email("meet", None)
    )
    assert told == {
        "fork": "day 0 since entry",
        "wait": "day 4 since entry",
        "meet": "day 0 to 4 since entry",
    }


def test_a_way_back_leaves_open_how_late_it_may_become() -> None:
    told = _told(making.delay("wait", 2), making.branch("again", yes="wait", no="end"))
    assert told["again"] == "day 2 since entry at the earliest"


def test_a_step_that_nobody_reaches_says_nothing() -> None:
    told = _told(making.delay("wait", next="end"), making.email("never", None))
    assert told["never"] == ""


def test_a_wait_without_a_length_counts_as_none() -> None:
    empty = {"key": "wait", "type": "delay", "config": {}}
    assert _told(empty, making.delay("day")) == {
        "wait": "day 0 since entry",
        "day": "day 1 since entry",
    }


def test_the_shortest_way_is_found_among_many() -> None:
    steps = [making.branch(f"fork{n}", yes="last", next=None) for n in range(100)]
    graph = link([{"next": None, **step} for step in [*steps, making.delay("last", 1)]])
    spans = since.spans(graph)
    assert spans["last"] == Span(DAY, DAY)
    assert len(spans) == 101
