"""A date that comes, in words and as a form."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from engine.automations.kinds.triggers.date_reached import DateReachedConfig
from web.automations.kinds.base import Choices, PropertyChoice
from web.automations.kinds.trigger_forms.date_reached import DateReachedForm
from web.automations.kinds.triggers.date_reached import DateReachedWords


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


@pytest.mark.parametrize(
    ("config", "title"),
    [
        ({}, "A date is reached (none chosen yet)"),
        ({"property_key": "born"}, "Once on “born” at 09:00"),
        ({"property_key": "born", "yearly": True}, "Every year on “born” at 09:00"),
        (
            {"property_key": "ends", "offset_days": -7, "time": "10:30"},
            "Once 7 days before “ends” at 10:30",
        ),
        ({"property_key": "ends", "offset_days": 1}, "Once 1 day after “ends” at 09:00"),
    ],
)
def test_a_date_says_when_it_starts_people(config: dict[str, Any], title: str) -> None:
    assert DateReachedWords().title(DateReachedConfig.model_validate(config), {}) == title


def test_a_run_says_which_date_it_was() -> None:
    data = {"property_key": "born", "date": "2026-07-15"}
    assert DateReachedWords().entered(data, {}) == "Entered because of the date “born”, 2026-07-15"


def test_only_dates_are_offered_and_what_is_no_number_is_passed_on() -> None:
    kind = DateReachedForm()
    known = [PropertyChoice("born", "Born", "instant"), PropertyChoice("age", "Age", "number")]
    form = kind.fill({}, Choices(properties=known))
    assert [choice.value for choice in form.property_key.choices] == ["", "born"]
    assert kind.read(form) == {
        "property_key": None,
        "offset_days": 0,
        "time": "09:00",
        "yearly": False,
    }
    sent = MultiDict({"offset_days": "a week", "time": "09:00", "property_key": "born"})
    assert kind.read(kind.fill({}, Choices(properties=known), sent))["offset_days"] == "a week"
