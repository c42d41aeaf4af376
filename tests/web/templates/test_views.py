"""The pages of templates: the list, the editor, two people who save at once."""

from typing import Any

import pytest
from flask import Flask
from lxml.html import HtmlElement
from sqlalchemy import select

from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import Template
from engine.house import House
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, everything, tree
from tests.web.templates.typed import GIVEN


def _stored(uow: UnitOfWork, public_id: str) -> Template:
    with uow.read() as session:
        return session.scalars(select(Template).where(Template.public_id == public_id)).one()


def _as(app: Flask, acme: Town, role: str) -> Reader:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    return reader


def _new(page: HtmlElement) -> list[HtmlElement]:
    return [each for each in pick(page, "main a") if each.get("href") == "/templates/new"]


def test_the_list_names_templates_without_reading_their_texts(
    owner: Reader, template: str, house: House
) -> None:
    with counting(house.runtime.database.engine) as asked:
        page = tree(owner.get("/templates"))
    assert texts(page, "tbody th a") == ["Greeting"]
    assert one(page, "tbody th a").get("href") == f"/templates/{template}"
    assert not [each for each in asked.statements if "rendered_html" in each]
    assert asked.count <= 9


def test_a_workspace_without_templates_is_told_what_they_are(app: Flask, acme: Town) -> None:
    support = tree(_as(app, acme, "support").get("/templates"))
    assert "A template is the text of a mail" in words(support)
    assert _new(support) == []
    editor = tree(_as(app, acme, "editor").get("/templates"))
    assert len(_new(editor)) == 2


def test_a_template_is_created_in_the_browser(owner: Reader, uow: UnitOfWork) -> None:
    answer = owner.post("/templates/new", GIVEN)
    assert answer.status_code == 303, answer.text
    row = _stored(uow, answer.headers["Location"].rsplit("/", 1)[-1])
    assert (row.name, row.html, row.mjml, row.text) == ("Greeting", GIVEN["source"], None, None)
    assert (row.purpose, row.allow_repeat, row.version) == ("marketing", None, 1)


def test_mjml_is_kept_as_mjml(owner: Reader, uow: UnitOfWork) -> None:
    mjml = (
        "<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section>"
        "</mj-body></mjml>"
    )
    answer = owner.post("/templates/new", {**GIVEN, "written": "mjml", "source": mjml})
    row = _stored(uow, answer.headers["Location"].rsplit("/", 1)[-1])
    assert (row.html, row.mjml) == (None, mjml)
    page = tree(owner.get(answer.headers["Location"]))
    assert one(page, "input[name=written][checked]").get("value") == "mjml"


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"name": ""}, "name", "This field is required."),
        ({"name": "x" * 201}, "name", "At most 200 characters."),
        ({"subject": "{{ a"}, "subject", "It does not work (line 1"),
        ({"source": "<p>\n{% if a %}</p>"}, "source", "It does not work (line"),
        ({"source": "<mjml>", "written": "mjml"}, "source", "It does not work"),
        ({"text": "{% nonsense %}"}, "text", "It does not work"),
        ({"purpose": "spam"}, "purpose", "Not a valid choice"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(
    owner: Reader, template: str, uow: UnitOfWork, change: dict[str, str], field: str, sentence: str
) -> None:
    wanted = {**GIVEN, "text": "Typed by hand", **change}
    answer = owner.post(f"/templates/{template}", wanted)
    page = tree(answer)
    assert answer.status_code == 422
    assert sentence in words(one(page, f"#{field}-wrong"))
    assert one(page, "#source").text.lstrip("\r\n") == wanted["source"]
    assert one(page, "#text").text.lstrip("\r\n") == wanted["text"]
    assert _stored(uow, template).version == 1


def test_saving_keeps_line_breaks_as_they_were_written(
    owner: Reader, template: str, uow: UnitOfWork
) -> None:
    sent = {**GIVEN, "name": "Greeting 2", "source": GIVEN["source"].replace("\n", "\r\n")}
    assert owner.post(f"/templates/{template}", sent).status_code == 303
    row = _stored(uow, template)
    assert (row.name, row.html, row.version) == ("Greeting 2", GIVEN["source"], 2)


def test_saving_what_is_there_already_writes_nothing(
    owner: Reader, template: str, uow: UnitOfWork
) -> None:
    owner.get("/templates")
    with uow.read() as session:
        before = everything(session)
    answer = owner.post(
        f"/templates/{template}", {**GIVEN, "source": GIVEN["source"].replace("\n", "\r\n")}
    )
    assert answer.status_code == 303
    with uow.read() as session:
        assert everything(session) == before


def test_of_two_who_save_the_second_sees_both_versions_and_loses_nothing(
    owner: Reader, template: str, uow: UnitOfWork
) -> None:
    first = {**GIVEN, "subject": "Theirs", "source": "<p>Hello</p>\n<p>Their line</p>"}
    second = {**GIVEN, "subject": "Mine", "source": "<p>Hello</p>\n<p>My line</p>"}
    assert owner.post(f"/templates/{template}", first).status_code == 303
    answer = owner.post(f"/templates/{template}", second)
    page = tree(answer)
    assert answer.status_code == 409
    assert "Subject: Theirs → Mine" in words(page)
    assert "-<p>Their line</p>" in texts(page, "pre del")
    assert "+<p>My line</p>" in texts(page, "pre ins")
    assert _stored(uow, template).subject == "Theirs"
    form = one(page, "main form.inline")
    kept = {each.get("name"): each.get("value") for each in pick(page, "main form.inline input")}
    kept |= {
        each.get("name"): (each.text or "").removeprefix("\n")
        for each in pick(page, "main form.inline textarea")
    }
    assert owner.post(form.get("action"), kept).status_code == 303
    row = _stored(uow, template)
    assert (row.subject, row.html, row.version) == ("Mine", second["source"], 3)


def test_a_role_that_only_reads_gets_the_text_and_the_preview_without_a_form(
    app: Flask, acme: Town, template: str
) -> None:
    support = _as(app, acme, "support")
    page = tree(support.get(f"/templates/{template}"))
    assert pick(page, "main form[method=post]") == []
    assert "Line two" in words(pick(page, "pre")[0])
    assert "Hello Test" in words(one(page, "#preview"))
    for path in ("", "/preview", "/delete"):
        assert support.post(f"/templates/{template}{path}", GIVEN).status_code == 403


def test_a_template_that_nobody_uses_is_deleted(
    owner: Reader, template: str, uow: UnitOfWork
) -> None:
    page = tree(owner.get(f"/templates/{template}?ask=delete"))
    form = one(page, "dialog[open] form")
    assert owner.post(form.get("action")).status_code == 303
    assert _stored(uow, template).deleted_at is not None
    assert owner.get(f"/templates/{template}").status_code == 404
    assert owner.post(f"/templates/{template}/delete").status_code == 404


def test_a_template_that_automations_use_is_kept_and_names_them(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    with uow.read() as session:
        used = session.scalars(select(Template).where(Template.name == "Welcome aboard")).one()
    page = tree(owner.get(f"/templates/{used.public_id}"))
    assert pick(page, "dialog") == []
    uses = texts(page, "section[aria-labelledby=uses-title] li")
    assert uses
    assert any("Trial lifecycle" in each and "in force" in each for each in uses), uses
    answer = owner.post(f"/templates/{used.public_id}/delete")
    assert answer.status_code == 303
    said = words(one(tree(owner.get(answer.headers["Location"])), "#said"))
    assert "so it stays" in said
    assert _stored(uow, used.public_id).deleted_at is None


def test_the_editor_asks_a_bounded_number_of_statements(
    owner: Reader, template: str, house: House
) -> None:
    owner.get("/templates")
    with counting(house.runtime.database.engine) as asked:
        owner.get(f"/templates/{template}")
    assert asked.count <= 12


def test_names_are_shown_as_text(owner: Reader) -> None:
    wild: dict[str, Any] = {**GIVEN, "name": "<script>x</script> 🚋 שלום"}
    answer = owner.post("/templates/new", wild)
    page = owner.get(answer.headers["Location"])
    assert "<script>x" not in page.text
    assert words(one(tree(page), "h1")) == wild["name"]
