"""How values look in words: instants, spans, counts, signals, links to the same page."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask, request
from flask_babel import Babel

from engine.core.clock import FixedClock
from web import days, filters

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def app() -> Flask:
    """An app that knows one page and reads the language from the address."""
    app = Flask(__name__)
    app.add_url_rule("/", "home.index", lambda: "")
    app.add_url_rule("/runs", "runs.index", lambda: "", methods=["GET", "POST"])
    Babel(
        app,
        locale_selector=lambda: request.args.get("lang", "en"),
        timezone_selector=lambda: "Europe/Berlin",
    )
    filters.register(app)
    return app


@pytest.fixture(autouse=True)
def _noon(clock: FixedClock) -> None:
    clock.set(NOON)


@pytest.mark.parametrize(
    ("language", "instant", "words"),
    [
        ("en", NOON, "Mon 30 Nov, 13:00 CET"),
        ("de", NOON, "Mo. 30. Nov., 13:00 CET"),
        ("en", datetime(2025, 7, 1, 22, 30, tzinfo=UTC), "Wed 2 Jul 2025, 00:30 CEST"),
    ],
)
def test_an_instant_names_weekday_and_zone(
    app: Flask, language: str, instant: datetime, words: str
) -> None:
    with app.test_request_context(f"/?lang={language}"):
        assert f">{words}</time>" in str(filters.when(instant))


def test_tim_11_an_hour_of_brazil_is_shown_by_the_rules_of_today() -> None:
    app = Flask(__name__)
    Babel(app, timezone_selector=lambda: "America/Sao_Paulo")
    instant = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)
    with app.test_request_context("/"):
        assert ">Thu 15 Jan, 10:00 -03</time>" in str(filters.when(instant))
    asked = days.read({"since": "2026-01-15"}, "America/Sao_Paulo")
    assert asked.since == instant - timedelta(hours=10)


def test_an_instant_bears_the_utc_time_for_whoever_asks(app: Flask) -> None:
    with app.test_request_context("/"):
        assert 'title="2026-11-30 12:00:00 UTC"' in str(filters.when(NOON, exact=True))


@pytest.mark.parametrize(
    ("language", "span", "words"),
    [
        ("en", timedelta(seconds=-4), "4 seconds ago"),
        ("en", timedelta(hours=20), "in 20 hours"),
        ("de", timedelta(minutes=-3), "vor 3 Minuten"),
    ],
)
def test_how_long_ago_is_said_in_words(
    app: Flask, language: str, span: timedelta, words: str
) -> None:
    with app.test_request_context(f"/?lang={language}"):
        assert filters.ago(NOON + span) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.01, "10 ms"),
        (36.24, "36.2 s"),
        (3_600, "1 hour"),
        (3_660, "61 minutes"),
        (86_400, "1 day"),
        (259_200, "3 days"),
        (None, "–"),
    ],
)
def test_a_span_keeps_its_unit(app: Flask, seconds: float | None, words: str) -> None:
    with app.test_request_context("/"):
        assert filters.duration(seconds) == words


@pytest.mark.parametrize(("language", "words"), [("en", "1,412"), ("de", "1.412")])
def test_a_count_is_grouped_as_the_reader_expects(app: Flask, language: str, words: str) -> None:
    with app.test_request_context(f"/?lang={language}"):
        assert filters.number(1412) == words


def test_an_unknown_status_is_shown_as_it_is_stored(app: Flask) -> None:
    with app.test_request_context("/"):
        assert filters.signal("odd", "run") == filters.Signal("off", "odd")


def test_every_tone_is_one_of_the_four() -> None:
    assert {shown.tone for shown in filters.SIGNALS.values()} == {"go", "hold", "stop", "off"}


@pytest.mark.parametrize(
    ("address", "changes", "expected"),
    [
        ("/runs?q=a+b&cursor=x", {"cursor": "y"}, "/runs?q=a+b&cursor=y"),
        ("/runs?q=a&cursor=x", {"cursor": None}, "/runs?q=a"),
        ("/runs", {"lang": "de"}, "/runs?lang=de"),
        ("/not/there?q=a", {"q": None}, "/not/there"),
    ],
)
def test_a_link_to_the_same_page_keeps_the_other_values(
    app: Flask, address: str, changes: dict[str, str | None], expected: str
) -> None:
    with app.test_request_context(address):
        assert filters.here(**changes) == expected


def test_the_answer_to_a_form_links_home(app: Flask) -> None:
    with app.test_request_context("/runs", method="POST"):
        assert filters.here(lang="de") == "/"


def test_the_navigation_shows_only_areas_that_are_built(app: Flask) -> None:
    with app.test_request_context("/runs"):
        assert [[item.url for item in group.items] for group in filters.navigation()] == [["/runs"]]
