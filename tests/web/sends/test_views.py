"""The pages of mails: the outbox, one mail as it was sent, its HTML shut in a page of its own."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from engine.core.unit_of_work import UnitOfWork
from engine.delivery import queries
from engine.delivery.models import EmailSend, SentMessage
from engine.delivery.queries import SendRow
from engine.house import House
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree
from web.sends import messages


def _listed(reader: Reader, query: str = "") -> list[str]:
    return texts(tree(reader.get(f"/sends?{query}")), "tbody th a")


def test_the_outbox_says_to_whom_what_became_of_it_and_where_it_comes_from(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get("/sends"))
    rows = texts(page, "tbody tr")
    assert len(rows) == 10
    assert rows[-1] == (
        "Welcome, Kim kim.arnold@partner.example Kept here Mon 2 Mar, 09:00 UTC"
        " Automation “Trial lifecycle”"
    )
    assert words(one(page, ".true-now")) == (
        "Every mail that would have left, kept here as it was made."
    )
    assert "No mail leaves this installation" in words(one(page, ".banner.off"))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("status=sent", 10),
        ("status=failed", 0),
        ("q=kim.arnold@partner.example", 2),
        ("q=C-20418", 2),
        ("q=nobody@partner.example", 0),
    ],
)
def test_the_filters_stand_in_the_address(
    owner: Reader, scene: Scene, query: str, count: int
) -> None:
    assert len(_listed(owner, query)) == count


def test_a_message_id_finds_its_mail(owner: Reader, scene: Scene, uow: UnitOfWork) -> None:
    with uow.read() as session:
        message_id = session.scalar(
            select(EmailSend.message_id).where(EmailSend.public_id == scene.sends["last"])
        )
    answer = owner.client.get("/sends", query_string={"q": message_id})
    assert texts(tree(answer), "tbody th a") == ["Welcome, Kim"]


def test_one_mail_shows_text_headers_and_what_became_of_it(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/sends/{scene.sends['last']}"))
    assert words(one(page, "h1")) == "Welcome, Kim"
    assert texts(page, ".head .sig") == ["Kept here"]
    assert texts(page, "main .note") == [
        "This mail did not leave: no mail server is set, so it was kept here as it was made."
    ]
    assert "Good to have you." in words(one(page, "pre"))
    headers = one(page, "section[aria-labelledby=head-title]")
    named = dict(zip(texts(headers, "dt"), texts(headers, "dd"), strict=True))
    assert named["Subject"] == "Welcome, Kim"
    assert named["To"] == "kim.arnold@partner.example"
    assert named["Message-ID"].startswith("<")
    links = {words(a): a.get("href") for a in pick(page, "main a")}
    assert links["Kim Arnold"] == f"/people/{scene.people['first']}"
    assert links["Open the run"] == f"/runs/{scene.runs['at again']}"


def test_the_html_is_shown_in_a_frame_without_rights(owner: Reader, scene: Scene) -> None:
    frame = one(tree(owner.get(f"/sends/{scene.sends['last']}")), "iframe")
    assert frame.get("sandbox") == ""
    assert frame.get("title") == "The mail as HTML"
    answer = owner.get(frame.get("src"))
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox", "form-action 'none'", "img-src data:"} <= set(policy)
    assert not [rule for rule in policy if "script" in rule or "http" in rule or "*" in rule]
    assert "X-Frame-Options" not in answer.headers
    assert "Hello Kim" in answer.text
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_mail_that_was_not_made_yet_says_so(owner: Reader, scene: Scene, uow: UnitOfWork) -> None:
    with uow.begin() as session:
        row = session.scalars(
            select(EmailSend).where(EmailSend.public_id == scene.sends["last"])
        ).one()
        session.delete(
            session.scalars(select(SentMessage).where(SentMessage.send_id == row.id)).one()
        )
    page = tree(owner.get(f"/sends/{scene.sends['last']}"))
    assert "there is nothing to show yet" in words(page)
    assert words(one(page, "h1")) == "Welcome aboard"
    assert owner.get(f"/sends/{scene.sends['last']}/body").status_code == 404


def _row(scene: Scene, uow: UnitOfWork) -> SendRow:
    with uow.read() as session:
        found = queries.get_send(session, scene.workspace_id, scene.sends["last"])
    assert found is not None
    return found.send


KEPT: dict[str, Any] = {}
ACCEPTED: dict[str, Any] = {"provider_reply": "250 2.0.0 queued"}
AGAIN: dict[str, Any] = {"status": "queued", "error_code": "RATE_LIMIT"}
REFUSED: dict[str, Any] = {"status": "failed", "error_code": "INVALID_RECIPIENT"}
LOST: dict[str, Any] = {"status": "failed", "error_code": "OUTCOME_UNKNOWN"}


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        (KEPT, "kept", "Kept in the outbox here; it did not leave"),
        (ACCEPTED, "sent", "Accepted by the mail server"),
        ({"status": "queued"}, "queued", "Waits to be handed over"),
        (AGAIN, "queued", "Is tried again: The other server asked to slow down."),
        (REFUSED, "failed", "Not delivered: The other server refused the recipient."),
        (
            LOST,
            "unknown",
            "Outcome unknown: the connection was lost after it was handed over",
        ),
    ],
)
def test_what_became_of_a_mail_is_a_sentence(
    app: Flask, scene: Scene, uow: UnitOfWork, change: dict[str, Any], status: str, sentence: str
) -> None:
    row = replace(_row(scene, uow), **change)
    with app.test_request_context():
        assert (messages.status(row), messages.became(row)) == (status, sentence)


def test_an_unknown_outcome_is_shown_apart_from_a_failure(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    with uow.begin() as session:
        session.execute(
            update(EmailSend)
            .where(EmailSend.public_id == scene.sends["last"])
            .values(status="failed", error_code="OUTCOME_UNKNOWN", provider_reply=None)
        )
    page = tree(owner.get(f"/sends/{scene.sends['last']}"))
    assert texts(page, ".head .sig") == ["Outcome unknown"]
    assert "It is not sent again by itself." in words(one(page, "main .note.stop"))


def test_a_stranger_of_another_workspace_finds_no_mail(
    app: Flask, other: Town, scene: Scene
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    for path in (f"/sends/{scene.sends['last']}", f"/sends/{scene.sends['last']}/body"):
        assert reader.get(path).status_code == 404
    assert _listed(reader) == []
    assert _listed(reader, "q=kim.arnold@partner.example") == []


@pytest.mark.parametrize("role", ["editor", "support"])
def test_everybody_of_the_workspace_may_read(
    app: Flask, acme: Town, scene: Scene, role: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    assert len(_listed(reader)) == 10
    assert reader.get(f"/sends/{scene.sends['last']}").status_code == 200


def test_the_outbox_asks_a_bounded_number_of_statements(
    owner: Reader, house: House, scene: Scene
) -> None:
    owner.get("/sends")
    with counting(house.runtime.database.engine) as ten:
        assert len(_listed(owner)) == 10
    with counting(house.runtime.database.engine) as two:
        assert len(_listed(owner, "status=sent&q=C-20418")) == 2
    # The filter by person asks for the person and its properties.
    assert ten.count <= two.count <= ten.count + 4
    assert ten.count <= 9


def test_a_status_that_there_is_not_is_named_and_the_filter_uses_the_word_of_the_rows(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get("/sends?status=lost"))
    assert texts(page, "main .note.hold") == [
        "There is no status “lost”, so nothing fits. Choose one from the list."
    ]
    assert texts(page, "#f-status option") == ["any", "Queued", "Kept here", "Failed"]
    assert set(texts(tree(owner.get("/sends?status=sent")), "tbody .sig")) == {"Kept here"}
