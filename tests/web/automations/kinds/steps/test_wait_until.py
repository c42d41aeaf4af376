"""The wait for an event or an hour in words, and what its form comes to."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask

from engine.automations.kinds.steps.wait_until import WaitUntilConfig
from web.automations.kinds.step_forms.wait_until import WaitUntilForm
from web.automations.kinds.steps.base import Evidence, Named
from web.automations.kinds.steps.wait_until import WaitUntilWords

EVENT = {"event_name": "paid", "limit_duration": 3, "limit_unit": "days"}


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def named(**config: Any) -> Named[WaitUntilConfig]:
    return Named(WaitUntilConfig.model_validate(config))


def hours(days: list[int], opens: str | None = None, closes: str | None = None) -> dict[str, Any]:
    return {"mode": "window", "weekdays": days, "opens": opens, "closes": closes}


@pytest.mark.parametrize(
    ("config", "title", "note"),
    [
        ({}, "Wait for an event (none chosen yet)", ""),
        (EVENT, "Wait for the event “paid”", "3 days at most"),
        (
            hours([1, 2, 3, 4], "10:00", "17:00"),
            "Wait until Mon–Thu, 10:00–17:00",
            "In the time zone of the person.",
        ),
        (hours([7, 1, 2]), "Wait until Mon, Tue, Sun", "In the time zone of the person."),
        (
            hours([6, 7], closes="12:30"),
            "Wait until Sat, Sun, 00:00–12:30",
            "In the time zone of the person.",
        ),
    ],
)
def test_a_wait_says_what_for_and_how_long(config: dict[str, Any], title: str, note: str) -> None:
    assert WaitUntilWords().title(named(**config)) == title
    assert WaitUntilWords().note(named(**config)) == note


def test_a_run_says_whether_the_event_came() -> None:
    words, step = WaitUntilWords(), named(**EVENT)
    came, late = ({"event": "paid", "branch": branch} for branch in ("heard", "late"))
    assert words.done(step, came) == "The event “paid” came"
    assert words.evidence(step, late) == Evidence(
        "Wait for the event “paid”", "The event “paid” did not come in time", "too late"
    )
    window = named(**hours([1]))
    assert words.done(window, {"zone": "UTC"}) == "Wait until Mon"
    assert words.evidence(window, {"zone": "UTC"}) is None


def test_the_form_says_when_somebody_who_arrives_now_goes_on() -> None:
    sunday = datetime(2026, 12, 6, 12, tzinfo=UTC)
    words = WaitUntilForm().sentence(hours([1], "10:00"), sunday)
    assert '<time datetime="2026-12-07T' in words
    assert WaitUntilForm().sentence(hours([]), sunday) == ""
    assert WaitUntilForm().sentence(hours([1], "25:00"), sunday) == ""
    assert WaitUntilForm().sentence(EVENT, sunday) == ""
