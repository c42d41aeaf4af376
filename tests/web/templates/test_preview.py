"""The preview of templates: unsaved text, for a person, in a frame without rights."""

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.web.picking import one, words
from tests.web.support import HTMX, Reader, Town, everything, tree
from tests.web.templates.typed import GIVEN


def test_the_preview_shows_unsaved_text_for_a_person_and_writes_nothing(
    owner: Reader, acme: Town, template: str, uow: UnitOfWork
) -> None:
    with uow.begin() as session:
        audience.contact(session, acme.workspace_id, "kim@people.example", first_name="Kim")
    owner.get("/templates")
    with uow.read() as session:
        before = everything(session)
    typed = {
        **GIVEN,
        "subject": "Dear {{ contact.first_name }}",
        "source": "<p>Not saved, {{ contact.first_name }}</p>",
        "contact": "kim@people.example",
    }
    answer = owner.post(f"/templates/{template}/preview", typed, HTMX)
    assert answer.status_code == 200
    assert "Dear Kim" in answer.text
    assert "Not saved, Kim" in answer.text
    framed = owner.post("/templates/new/frame", typed)
    assert framed.text == "<p>Not saved, Kim</p>"
    with uow.read() as session:
        assert everything(session) == before


def test_without_script_the_preview_is_the_page_with_what_was_typed(
    owner: Reader, template: str
) -> None:
    typed = {**GIVEN, "subject": "Typed {{ contact.first_name }}", "source": "<p>Typed</p>"}
    for address in (f"/templates/{template}/preview", "/templates/new/preview"):
        page = tree(owner.post(address, typed))
        assert "Typed Test" in words(one(page, "#preview"))
        assert one(page, "#source").text.strip() == "<p>Typed</p>"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"source": "<p>{% if %}"}, "It does not work"),
        ({"contact": "nobody@people.example"}, "There is no such person."),
    ],
)
def test_a_preview_that_does_not_work_says_why(
    owner: Reader, template: str, change: dict[str, str], sentence: str
) -> None:
    answer = owner.post(f"/templates/{template}/preview", {**GIVEN, **change}, HTMX)
    assert answer.status_code == 200
    assert sentence in words(one(tree(answer), "[data-flaw]"))
    assert owner.post(f"/templates/{template}/preview", {**GIVEN, **change}).status_code == 422
    assert sentence in owner.post("/templates/new/frame", {**GIVEN, **change}).text


def test_a_text_can_be_looked_at_before_it_has_a_name(owner: Reader) -> None:
    answer = owner.post("/templates/new/preview", {**GIVEN, "name": ""}, HTMX)
    assert (answer.status_code, "Hello Test" in answer.text) == (200, True)


@pytest.mark.parametrize("posted", [True, False], ids=["unsaved", "saved"])
def test_the_html_is_shut_in_by_the_policy_of_mails(
    owner: Reader, template: str, posted: bool
) -> None:
    frame = one(tree(owner.get(f"/templates/{template}")), "iframe")
    assert frame.get("sandbox") == ""
    answer = (
        owner.post("/templates/new/frame", {**GIVEN, "source": "<script>alert(1)</script>"})
        if posted
        else owner.get(frame.get("src"))
    )
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox", "form-action 'none'", "img-src data:"} <= set(policy)
    assert "X-Frame-Options" not in answer.headers


def test_a_flaw_in_the_frame_is_no_markup(owner: Reader) -> None:
    answer = owner.post("/templates/new/frame", {**GIVEN, "source": "{% <b>x</b> %}"})
    assert "<b>" not in answer.text
    assert "It does not work" in answer.text
