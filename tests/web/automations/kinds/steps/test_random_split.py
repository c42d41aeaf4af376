"""The random split in words and as a form."""

from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from engine.automations.kinds.steps.random_split import RandomSplitConfig
from web.automations.kinds.base import Choices
from web.automations.kinds.step_forms.random_split import RandomSplitForm
from web.automations.kinds.steps.base import Evidence, Named
from web.automations.kinds.steps.random_split import RandomSplitWords

STEP = Named(RandomSplitConfig(shares={"a": 70, "b": 30}))


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def test_a_split_is_named_by_its_shares_and_told_with_the_way_taken() -> None:
    words, result = RandomSplitWords(), {"branch": "b", "share": 30}
    assert words.title(STEP) == "Random split 70 / 30"
    assert words.done(STEP, result) == "Random split 70 / 30 → B"
    found = Evidence("Random split 70 / 30", "30 % take this way", "B")
    assert words.evidence(STEP, result) == found
    assert words.evidence(STEP, {}) is None


@pytest.mark.parametrize(
    ("typed", "shares"),
    [
        ("50, 50", {"a": 50, "b": 50}),
        ("20/30/50 %", {"a": 20, "b": 30, "c": 50}),
        ("half of them", "half of them"),
        ("1 1 1 1 1 95", "1 1 1 1 1 95"),
        ("٥٠, 50", "٥٠, 50"),
        ("", {}),
    ],
)
def test_shares_are_read_as_people_write_them(typed: str, shares: object) -> None:
    kind = RandomSplitForm()
    form = kind.fill({}, Choices(), MultiDict({"shares": typed}))
    assert kind.read(form) == {"shares": shares}


def test_a_new_split_shows_halves() -> None:
    assert RandomSplitForm().fill({}, Choices()).shares.data == "50, 50"
