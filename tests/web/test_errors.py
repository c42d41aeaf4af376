"""Error pages: the right code, words, a reference, a way on; problem documents for programs."""

import pytest
from flask import Flask
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs
from werkzeug import exceptions
from werkzeug.exceptions import HTTPException

from engine.core.outcome import Refused, missing
from tests.web.support import Reader, Town, tree
from web import auth, errors

PAGES = [400, 403, 404, 405, 413, 422, 429, 500]


@pytest.mark.parametrize("code", PAGES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_error_has_a_page_to_go_on_from(app: Flask, code: int, language: str) -> None:
    _plant(app, exceptions.default_exceptions[code]())
    reader = Reader(app)
    answer = reader.get(f"/probe?lang={language}")
    assert answer.status_code == code
    page = tree(answer)
    assert page.get("lang") == language
    assert len(page.xpath("//h1")) == 1
    assert "/" in page.xpath("//main//a/@href")
    assert answer.headers["X-Request-Id"] in page.text_content()


@pytest.mark.parametrize("code", PAGES)
def test_a_signed_in_person_keeps_the_frame(app: Flask, acme: Town, code: int) -> None:
    _plant(app, exceptions.default_exceptions[code]())
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    page = tree(reader.get("/probe"))
    # The page of a broken request reads no database, so it cannot say who is signed in.
    assert bool(page.xpath("//nav")) is (code != 500)


@pytest.mark.parametrize(("code", "shown"), [(410, 400), (415, 400), (503, 500)])
def test_rare_errors_borrow_a_page_and_keep_their_code(app: Flask, code: int, shown: int) -> None:
    _plant(app, exceptions.default_exceptions[code]())
    reader = Reader(app)
    answer = reader.get("/probe")
    assert answer.status_code == code
    heading = tree(answer).xpath("//h1/text()")
    with app.test_request_context():
        page = app.jinja_env.get_template(f"errors/{shown}.html").render(shell=None)
    assert heading[0] in page


def test_what_breaks_is_logged_with_the_reference(app: Flask) -> None:
    _plant(app, ZeroDivisionError("planted"))
    with capture_logs([merge_contextvars]) as logged:
        answer = Reader(app).get("/probe")
    assert answer.status_code == 500
    assert "planted" not in answer.text
    (line,) = [line for line in logged if line["event"] == "request_failed"]
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert line["exc_info"][0] is ZeroDivisionError


def test_a_405_names_what_is_allowed(owner: Reader) -> None:
    assert owner.get("/sign-out").headers["Allow"].split(", ").count("POST") == 1


def test_a_429_says_when_to_come_back(app: Flask) -> None:
    _plant(app, exceptions.TooManyRequests(retry_after=7))
    assert Reader(app).get("/probe").headers["Retry-After"] == "7"


def test_programs_get_a_problem_document(stranger: Reader) -> None:
    answer = stranger.get("/api/v1/none")
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")


def test_a_refusal_of_the_engine_has_one_status() -> None:
    assert errors.status_of(missing("run_not_found")) == 404
    assert errors.status_of(Refused("illegal_edge")) == 409
    assert errors.status_of(Refused("bad", "invalid")) == 422
    with pytest.raises(exceptions.NotFound):
        errors.abort_if_missing(missing("run_not_found"))
    with pytest.raises(exceptions.Forbidden):
        errors.abort_if_missing(Refused("not_yours", "forbidden"))


def _plant(app: Flask, error: Exception | HTTPException) -> None:
    def view() -> str:
        raise error

    app.add_url_rule("/probe", "probe", auth.open_to_strangers(view))
