"""One address, one view: the header decides between the page and its fragment."""

import pytest
from flask import Flask

from tests.web.support import HTMX, Reader
from web import auth, htmx


@pytest.mark.parametrize(
    ("headers", "fragment"),
    [
        ({}, False),
        (HTMX, True),
        ({**HTMX, "HX-Boosted": "true"}, False),
        ({**HTMX, "HX-History-Restore-Request": "true"}, False),
        ({"HX-Request": "false"}, False),
    ],
)
def test_htmx_gets_the_fragment_unless_it_wants_a_whole_page(
    app: Flask, headers: dict[str, str], fragment: bool
) -> None:
    view = auth.open_to_strangers(
        lambda: htmx.render("errors/404.html", "macros/empty.html", 200, reference=None)
    )
    app.add_url_rule("/probe", "probe", view)
    answer = Reader(app).get("/probe", headers)
    assert ("<h1>" in answer.text) is not fragment
    assert "HX-Request" in answer.vary


@pytest.mark.parametrize(
    ("headers", "status", "name"), [({}, 303, "Location"), (HTMX, 204, "HX-Redirect")]
)
def test_after_a_form_the_reader_is_sent_on(
    app: Flask, headers: dict[str, str], status: int, name: str
) -> None:
    app.add_url_rule("/probe", "probe", auth.open_to_strangers(lambda: htmx.see_other("/runs")))
    answer = Reader(app).get("/probe", headers)
    assert (answer.status_code, answer.headers[name]) == (status, "/runs")
