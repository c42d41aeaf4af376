"""What is a text of some length travels compressed, and says the same."""

import gzip

from flask import Flask

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import program
from tests.web.support import Reader, Town

GZIP = {"Accept-Encoding": "gzip"}
STYLES = "/static/app.css"


def test_a_page_is_compressed_for_who_reads_that_and_plain_for_others(owner: Reader) -> None:
    small, plain = owner.get("/automations", GZIP), owner.get("/automations")
    assert small.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in small.headers["Vary"]
    assert len(small.data) < len(plain.data) / 2
    assert b"<h1" in gzip.decompress(small.data)
    assert "Content-Encoding" not in plain.headers


def test_a_file_of_ours_is_compressed_and_not_sent_again(app: Flask) -> None:
    reader = Reader(app)
    first = reader.get(STYLES, GZIP)
    assert gzip.decompress(first.data) == reader.get(STYLES).data
    again = reader.get(STYLES, {**GZIP, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_an_answer_of_the_api_bears_the_tag_that_a_later_call_names(
    app: Flask, uow: UnitOfWork, acme: Town
) -> None:
    shop = program(app, uow, acme.workspace_id)
    document = {
        "name": "Welcome",
        "description": "A long text. " * 200,
        "trigger": {"type": "event_received", "config": {"event_name": "go"}},
        "steps": [],
    }
    made = shop.post("/automations", document).json
    path = f"/automations/{made['id']}"
    found = shop.get(path, headers=GZIP)
    assert found.headers["ETag"] == shop.get(path).headers["ETag"]
    saved = shop.call("PUT", path, document, headers={"If-Match": found.headers["ETag"]})
    assert saved.status_code == 200
