"""Templates: judged when saved, with the place of the fault; one evaluator for preview and send."""

from dataclasses import replace
from threading import Barrier, Thread
from typing import Any, Final

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.core.audit import AuditEntry
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import queries, service
from engine.delivery.models import Template
from engine.delivery.queries import TemplateRow
from engine.delivery.service import Preview, TemplateInput, check_subject
from tests.factories import accounts, audience, delivery

GIVEN: Final = TemplateInput("Welcome", "Hello", html="<p>Hello</p>")
MJML: Final = (
    "<mjml><mj-body><mj-section><mj-column>"
    "<mj-text>Hi {{ contact.first_name }}</mj-text>"
    "</mj-column></mj-section></mj-body></mjml>"
)


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace in the test's session."""
    return accounts.workspace(session).id


def created(session: Session, workspace: int, given: TemplateInput) -> TemplateRow | Refused:
    return service.create_template(session, workspace, given, delivery.ACTOR, accounts.AT)


def stored(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Template)) or 0


def test_a_template_is_kept_as_written_and_laid_out(session: Session, workspace: int) -> None:
    html = "<style>p { color: red }</style><p>{{ contact.first_name }}</p>"
    row = created(session, workspace, replace(GIVEN, html=html))
    assert isinstance(row, TemplateRow)
    assert (row.html, row.text, row.purpose, row.version) == (html, None, "marketing", 1)
    laid_out = session.scalar(select(Template.rendered_html))
    assert laid_out is not None
    assert '<p style="color: red;">{{ contact.first_name }}</p>' in laid_out


def test_mjml_becomes_html_once(session: Session, workspace: int) -> None:
    row = created(session, workspace, replace(GIVEN, html=None, mjml=MJML))
    assert isinstance(row, TemplateRow), row
    laid_out = session.scalar(select(Template.rendered_html)) or ""
    assert "<table" in laid_out
    assert "Hi {{ contact.first_name }}" in laid_out


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"name": "  "}, "/name", "required"),
        ({"name": "x" * 201}, "/name", "too_long"),
        ({"name": "a\x00b"}, "/name", "bad_character"),
        ({"subject": "x" * 501}, "/subject", "too_long"),
        ({"subject": "{{ contact."}, "/subject", "template_broken"),
        ({"subject": "\ud800"}, "/subject", "bad_character"),
        ({"html": None}, "/html", "html_or_mjml"),
        ({"mjml": MJML}, "/html", "html_or_mjml"),
        ({"html": "x" * 300_001}, "/html", "too_long"),
        ({"html": "<p>{% if a %}</p>"}, "/html", "template_broken"),
        ({"html": "<p>{{ a | nonsense }}</p>"}, "/html", "template_broken"),
        ({"html": "{% for i in (1..99999999) %}x{% endfor %}"}, "/html", "template_broken"),
        ({"html": "<div>" * 1_000}, "/html", "template_broken"),
        ({"html": None, "mjml": "<mjml>"}, "/mjml", "template_broken"),
        ({"html": None, "mjml": MJML.replace("}}", "")}, "/mjml", "template_broken"),
        (
            {"html": None, "mjml": MJML.replace("Hi", "{% for i in (1..99999999) %}x{% endfor %}")},
            "/mjml",
            "template_broken",
        ),
        ({"text": "{% nonsense %}"}, "/text", "template_broken"),
        ({"text": "{{ 1 | divided_by: 0 }}"}, "/text", "template_broken"),
        ({"purpose": "spam"}, "/purpose", "purpose_unknown"),
    ],
)
def test_a_wrong_template_is_refused_with_the_place(
    session: Session, workspace: int, change: dict[str, Any], pointer: str, code: str
) -> None:
    answer = created(session, workspace, replace(GIVEN, **change))
    assert isinstance(answer, Refused)
    assert answer.kind == "invalid"
    assert (answer.problems[0].pointer, answer.problems[0].code) == (pointer, code)
    assert stored(session) == 0


def test_a_broken_text_says_line_and_column(session: Session, workspace: int) -> None:
    answer = created(session, workspace, replace(GIVEN, html="<p>\n  {% endif %}</p>"))
    assert isinstance(answer, Refused)
    assert answer.params["line"] == 2
    assert answer.params["column"] == 5
    assert "endif" in str(answer.params["message"])


def test_an_update_replaces_and_counts(session: Session, workspace: int) -> None:
    row = delivery.template(session, workspace)
    changed = service.update_template(
        session, workspace, row.public_id, GIVEN, delivery.ACTOR, accounts.AT, expected_version=1
    )
    assert isinstance(changed, TemplateRow)
    assert (changed.html, changed.version) == ("<p>Hello</p>", 2)
    late = service.update_template(
        session, workspace, row.public_id, GIVEN, delivery.ACTOR, accounts.AT, expected_version=1
    )
    assert late == Refused("version_changed")


def test_a_wrong_update_changes_nothing(session: Session, workspace: int) -> None:
    row = delivery.template(session, workspace)
    wrong = replace(GIVEN, html="{{ a")
    answer = service.update_template(
        session, workspace, row.public_id, wrong, delivery.ACTOR, accounts.AT
    )
    assert isinstance(answer, Refused)
    assert queries.get_template(session, workspace, row.public_id) == row


def test_a_deleted_template_is_gone_for_everybody_but_queued_mail(
    session: Session, workspace: int
) -> None:
    row = delivery.template(session, workspace)
    args = (session, workspace, row.public_id, delivery.ACTOR, accounts.AT)
    assert service.delete_template(*args) is None
    assert service.delete_template(*args) == Refused("template_not_found", "missing")
    assert queries.get_template(session, workspace, row.public_id) is None
    assert stored(session) == 1


def test_another_workspace_reaches_no_template(session: Session, workspace: int) -> None:
    row = delivery.template(session, workspace)
    other = accounts.workspace(session, "Other").id
    missing = Refused("template_not_found", "missing")
    at = accounts.AT
    assert service.preview_template(session, other, row.public_id, at, delivery.LINKS) == missing
    assert (
        service.update_template(session, other, row.public_id, GIVEN, delivery.ACTOR, at) == missing
    )
    assert service.delete_template(session, other, row.public_id, delivery.ACTOR, at) == missing


def test_a_preview_shows_a_person_and_what_is_missing(session: Session, workspace: int) -> None:
    audience.custom_property(session, workspace, "plan")
    audience.custom_property(session, workspace, "seats", "number")
    kim = audience.contact(
        session, workspace, "kim@people.example", {"plan": "pro", "seats": 5}, first_name="Kim"
    )
    text = (
        "{{ contact.first_name }} {{ contact.last_name }} {{ properties.plan }} "
        "{% if properties.seats > 4 %}{{ properties.seats }}{% endif %} {{ workspace.name }}"
    )
    row = delivery.template(session, workspace, text=text)
    shown = service.preview_template(
        session, workspace, row.public_id, accounts.AT, delivery.LINKS, kim.public_id
    )
    assert isinstance(shown, Preview)
    assert shown.text == "Kim  pro 5 Acme"
    assert shown.subject == "Hello Kim"
    assert shown.missing == ("contact.last_name",)


def test_a_preview_without_a_person_shows_a_sample(session: Session, workspace: int) -> None:
    row = delivery.template(session, workspace)
    shown = service.preview_template(session, workspace, row.public_id, accounts.AT, delivery.LINKS)
    assert isinstance(shown, Preview)
    assert shown.html == "<p>Hello Test</p>"
    nobody = service.preview_template(
        session, workspace, row.public_id, accounts.AT, delivery.LINKS, "nobody"
    )
    assert nobody == Refused("contact_not_found", "missing")


def test_acts_on_templates_are_audited(session: Session, workspace: int) -> None:
    row = delivery.template(session, workspace)
    service.update_template(session, workspace, row.public_id, GIVEN, delivery.ACTOR, accounts.AT)
    service.delete_template(session, workspace, row.public_id, delivery.ACTOR, accounts.AT)
    session.flush()
    lines = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert lines == ["template.created", "template.updated", "template.deleted"]


def test_an_override_of_the_subject_is_judged_like_a_subject() -> None:
    assert check_subject("Hi {{ contact.first_name }}", "/steps/0/config") is None
    for wrong in ("{{ a", "x" * 501, "a\x00"):
        answer = check_subject(wrong, "/steps/0/config")
        assert isinstance(answer, Refused)
        assert answer.problems[0].pointer == "/steps/0/config"


def test_of_two_deletions_at_once_one_deletes(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        made = delivery.template(session, workspace)
    together = Barrier(2)
    answers: list[Refused | None] = []

    def delete() -> None:
        together.wait()
        with uow.begin(workspace) as session:
            answers.append(
                service.delete_template(
                    session, workspace, made.public_id, delivery.ACTOR, accounts.AT
                )
            )
            if session.get_bind().dialect.name == "postgresql":
                # Both have looked before either is committed, or the second waits for the first.
                session.execute(select(func.pg_sleep(0.05)))

    threads = [Thread(target=delete) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer is None for answer in answers) == [False, True]
    with uow.read() as session:
        lines = select(func.count()).where(AuditEntry.action == "template.deleted")
        assert session.scalar(lines) == 1
