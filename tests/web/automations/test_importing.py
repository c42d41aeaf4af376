"""Export and import: a file out of one workspace, and into another one as a draft."""

import json
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from engine.automations import service
from engine.automations.exporting import FORMAT
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience, delivery, secrets
from tests.factories import automations as making
from tests.web.automations.editing import desk, fields
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

PAGE = "/automations/import"
HEADERS = {"X-Token": "wh1te-whale", "X-Team": "blue"}


@pytest.fixture
def guest(app: Flask, other: Town) -> Reader:
    """Return the owner of another workspace."""
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    return reader


@pytest.fixture
def written(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> str:
    """Return the file of an automation that names one of everything."""
    with uow.begin() as session:
        place = acme.workspace_id
        template = delivery.template(session, place, name="Welcome").public_id
        topic = audience.topic(session, place, name="News").public_id
        audience.custom_property(session, place, "plan")
        key = secrets.secret(session, place, name="Hook").public_id
    rule = {"kind": "contact_property", "field": "plan", "operator": "equals", "value": "gold"}
    draft = desk(
        owner, uow, acme, clock,
        making.email("hello", template),
        making.email("again", template),
        {"key": "ask", "type": "condition", "config": {"condition": rule, "no": "end"}},
        {"key": "join", "type": "topic", "config": {"topic_id": topic, "action": "subscribe"}},
        {
            "key": "tell",
            "type": "webhook",
            "config": {"url": "https://hooks.example/", "secret_id": key, "headers": HEADERS},
        },
    )  # fmt: skip
    answer = owner.get(f"{draft.page}/export")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == "attachment; filename=welcome.json"
    assert answer.mimetype == "application/json"
    return answer.text


def upload(reader: Reader, text: str | bytes, **more: Any) -> TestResponse:
    """Send a file with the form."""
    sent = BytesIO(text.encode() if isinstance(text, str) else text)
    return reader.post(PAGE, {"file": (sent, "welcome.json"), "text": "", **more})


def paste(reader: Reader, text: str, **more: str) -> TestResponse:
    return reader.post(PAGE, {"text": text, **more})


def made(uow: UnitOfWork, town: Town) -> int:
    """Return how many automations the workspace has."""
    with uow.read() as session:
        row = Automation
        mine = row.workspace_id == town.workspace_id
        return session.scalar(select(func.count()).select_from(row).where(mine)) or 0


def drafted(uow: UnitOfWork, town: Town, answer: TestResponse) -> dict[str, Any]:
    """Return the document of the draft to which an import leads."""
    assert answer.status_code == 303, answer.text
    with uow.read() as session:
        public_id = str(answer.location).rpartition("/")[2]
        seen = service.current(session, town.workspace_id, public_id)
        assert seen is not None
        return seen.document


def test_a_file_shows_what_it_is_and_what_is_not_here_and_creates_nothing(
    guest: Reader, written: str, uow: UnitOfWork, other: Town
) -> None:
    answer = upload(guest, written)
    assert answer.status_code == 200
    page = tree(answer)
    assert words(one(page, "h1")) == "Import “Welcome”"
    assert texts(page, ".plan h3")[0] == "The event “go” arrives"
    assert texts(page, ".form-label") == [
        "Template “ Welcome ”", "Property “ plan ”", "Topic “ News ”", "Secret “ Hook ”",
    ]  # fmt: skip
    assert texts(page, ".form-text")[0].startswith("Needed by: 1. ")
    assert "; 2. " in texts(page, ".form-text")[0]
    assert "wh1te-whale" not in written + answer.text
    assert "X-Token" in words(one(page, ".note.hold"))
    assert "As it stands, it could not go live yet:" in answer.text
    assert made(uow, other) == 0


def test_what_is_left_open_is_an_empty_field_of_the_draft(
    guest: Reader, written: str, uow: UnitOfWork, other: Town
) -> None:
    form = fields(upload(guest, written), PAGE)
    assert form["choice-0"] == ""
    document = drafted(uow, other, guest.post(PAGE, {**form, "act": "create"}))
    configs = {step["key"]: step["config"] for step in document["steps"]}
    assert configs["hello"]["template_id"] is None
    assert configs["ask"]["condition"] is None
    assert configs["tell"]["headers"] == {"X-Team": "blue"}
    assert texts(tree(guest.get("/automations")), "tbody th a") == ["Welcome"]


def test_what_has_the_same_name_here_stands_in_and_another_may_be_chosen(
    guest: Reader, written: str, uow: UnitOfWork, other: Town
) -> None:
    with uow.begin() as session:
        place = other.workspace_id
        same = delivery.template(session, place, name="welcome").public_id
        delivery.template(session, place, name="Else")
        topic = audience.topic(session, place, name="Offers").public_id
        audience.custom_property(session, place, "plan")
    answer = upload(guest, written)
    form = fields(answer, PAGE)
    assert (form["choice-0"], form["choice-1"]) == (same, "")
    assert "Property" not in " ".join(texts(tree(answer), ".form-label")), "it has the same key"
    again = guest.post(PAGE, {**form, "choice-1": topic, "act": "check"})
    assert again.status_code == 200
    assert fields(again, PAGE)["choice-1"] == topic
    document = drafted(uow, other, guest.post(PAGE, {**form, "choice-1": topic, "act": "create"}))
    configs = {step["key"]: step["config"] for step in document["steps"]}
    assert configs["hello"]["template_id"] == configs["again"]["template_id"] == same
    assert configs["join"]["topic_id"] == topic
    assert configs["ask"]["condition"]["field"] == "plan"


def test_a_stand_in_that_is_not_on_offer_is_left_open(
    guest: Reader, written: str, uow: UnitOfWork, other: Town
) -> None:
    form = fields(upload(guest, written), PAGE)
    document = drafted(
        uow, other, guest.post(PAGE, {**form, "choice-0": "somebodyelse", "act": "create"})
    )
    assert document["steps"][0]["config"]["template_id"] is None


def test_into_the_same_workspace_nothing_is_missing_and_the_draft_says_the_same(
    owner: Reader, written: str, uow: UnitOfWork, acme: Town
) -> None:
    assert "Everything that it names is here." in paste(owner, written).text
    document = drafted(uow, acme, paste(owner, written, act="create"))
    assert document == json.loads(written)["automation"]


def test_a_revision_has_a_file_of_its_own(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        raw = making.document(making.delay("wait"), name="Ärger & <script>")
        row = making.live(session, acme.workspace_id, raw, clock.now())
        page = f"/automations/{row.public_id}"
        saved = service.save(
            session, acme.workspace_id, row.public_id, making.document(name="日本"),
            row.draft_version, making.ACTOR, clock.now(),
        )  # fmt: skip
        assert isinstance(saved, service.Saved)
    frozen = owner.get(f"{page}/export?revision=1")
    assert frozen.headers["Content-Disposition"].endswith("filename=rger-script.json")
    assert json.loads(frozen.text)["automation"]["steps"][0]["key"] == "wait"
    draft = owner.get(f"{page}/export")
    assert draft.headers["Content-Disposition"].endswith("filename=automation.json")
    assert json.loads(draft.text)["automation"]["steps"] == []
    for wrong in ("2", "x", "0", "9" * 30, "²"):
        assert owner.get(f"{page}/export?revision={wrong}").status_code == 404


def test_markup_in_a_file_is_text(guest: Reader) -> None:
    raw = making.document(making.email("hello", "x" * 22), name="<script>alert(1)</script>")
    named = {"template": {"x" * 22: {"name": "<img src=x onerror=alert(2)>"}}}
    file = {"format": FORMAT, "format_version": 1, "automation": raw, "names": named}
    answer = paste(guest, json.dumps(file))
    assert answer.status_code == 200
    assert not pick(tree(answer), "main img")
    assert "alert(1)" not in "".join(texts(tree(answer), "script"))
    assert "<script>alert" not in answer.text


BAD = {
    "": "There is nothing in it",
    " \n": "There is nothing in it",
    "hello": "It is no JSON: something is wrong in line 1, column 1.",
    '{"a": 1': "It is no JSON",
    '{"a": NaN}': "NaN is no JSON number",
    '{"a": 1, "a": 2}': "The key “a” stands twice",
    "[1, 2]": "It is no file of an automation.",
    '{"hello": "world"}': "It is no file of an automation.",
    "[" * 5_000: "nested deeper",
    json.dumps({"format": FORMAT, "format_version": 9, "automation": {}}): "A newer version",
    json.dumps({"format": FORMAT, "format_version": 1, "automation": 3}): "It cannot become",
    json.dumps(making.document(name="a\ud800b")): "It holds values that cannot be kept.",
    json.dumps(making.document(name="a\0b")): "It holds values that cannot be kept.",
    json.dumps(making.document(*[making.delay(f"k{n}") for n in range(1_000)])): (
        "An automation has at most 200 steps."
    ),
    json.dumps(making.document({"key": "a", "type": "made-up", "config": {}})): "no such step",
    json.dumps(making.document(making.delay("a", next="gone"))): "There is no step “gone”",
    json.dumps({**making.document(), "extra": 1}): "is not known here",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: str(text)[:12])
def test_a_bad_file_is_refused_in_plain_words_and_what_was_sent_is_kept(
    guest: Reader, uow: UnitOfWork, other: Town, text: str
) -> None:
    for answer in (upload(guest, text), paste(guest, text, act="create")):
        assert answer.status_code == 422
        page = tree(answer)
        assert "Nothing was created." in words(one(page, "#mistakes"))
        assert BAD[text] in words(one(page, "#mistakes"))
        assert fields(answer, PAGE)["text"].strip() == text.replace("\r", "").strip()
    assert made(uow, other) == 0


def test_a_file_that_is_no_text_or_too_large_is_refused_in_plain_words(guest: Reader) -> None:
    for sent, said in (
        (b"\xff\xfe\x00", "It is no text that can be read"),
        (b'"' + b"x" * 400_000 + b'"', "It is too large: at most 400 kB are read."),
    ):
        answer = upload(guest, sent)
        assert answer.status_code == 422
        assert said in words(one(tree(answer), "#mistakes"))
    assert paste(guest, "x" * 2_000_000).status_code == 413


def test_a_file_with_the_mark_of_windows_is_read(guest: Reader) -> None:
    text = json.dumps(making.document(making.delay("wait")))
    assert upload(guest, b"\xef\xbb\xbf" + text.encode()).status_code == 200


def test_a_file_that_names_very_much_leaves_the_rest_open(
    guest: Reader, uow: UnitOfWork, other: Town
) -> None:
    steps = [making.email(f"k{n}", f"template-that-is-not-{n}") for n in range(60)]
    file = {
        "format": FORMAT,
        "format_version": 1,
        "automation": making.document(*steps),
        "left_out": ["/steps/0/config/url", "nowhere", *["/steps/999/" + "x" * 900] * 300],
    }
    answer = paste(guest, json.dumps(file))
    assert answer.status_code == 200, answer.text
    page = tree(answer)
    assert len(pick(page, "main select")) == 50
    assert "10 more are left open; fill them in in the editor." in words(page)
    assert len(pick(page, ".note.hold li")) == 100
    document = drafted(uow, other, paste(guest, json.dumps(file), act="create"))
    assert {step["config"]["template_id"] for step in document["steps"]} == {None}


def test_who_may_not_edit_exports_and_does_not_import(app: Flask, acme: Town, written: str) -> None:
    support = Reader(app)
    support.sign_in(acme.people["support"])
    page = tree(support.get("/automations"))
    assert not pick(page, f"a[href={PAGE}]")
    assert support.get(PAGE).status_code == 403
    assert paste(support, written).status_code == 403
    [link] = pick(page, "tbody th a")
    assert support.get(f"{link.get('href')}/export").status_code == 200


def test_the_pages_ask_a_bounded_number_of_statements(
    house: House, guest: Reader, written: str
) -> None:
    counts = []
    steps = json.loads(written)
    for times in (1, 8):
        more = [
            {**step, "key": f"{step['key']}{n}"}
            for n in range(times)
            for step in steps["automation"]["steps"]
        ]
        file = {**steps, "automation": {**steps["automation"], "steps": more}}
        paste(guest, json.dumps(file))
        with counting(house.runtime.database.engine) as asked:
            assert paste(guest, json.dumps(file)).status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 30
