"""Trying a template before it is saved: what can be seen is what could be saved."""

from dataclasses import replace
from typing import Any, Final

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.core.outcome import Refused
from engine.delivery import service
from engine.delivery.models import Template
from engine.delivery.queries import TemplateRow
from engine.delivery.service import Preview, TemplateInput
from engine.delivery.service.trying import preview_input
from tests.factories import accounts, audience, delivery

GIVEN: Final = TemplateInput("Welcome", "Hello {{ contact.first_name }}", html="<p>Hello</p>")


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace in the test's session."""
    return accounts.workspace(session).id


def _tried(
    session: Session, workspace: int, given: TemplateInput, contact: str | None = None
) -> Preview | Refused:
    return preview_input(session, workspace, given, contact, accounts.AT, delivery.LINKS)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"name": ""},
        {"subject": "{{ a"},
        {"html": "<p>{% if a %}</p>"},
        {"html": "{% for i in (1..99999999) %}x{% endfor %}"},
        {"html": None, "mjml": "<mjml>"},
        {"text": "{{ 1 | divided_by: 0 }}"},
        {"purpose": "spam"},
    ],
)
def test_what_can_be_tried_can_be_saved_and_nothing_else(
    session: Session, workspace: int, change: dict[str, Any]
) -> None:
    given = replace(GIVEN, **change)
    tried = _tried(session, workspace, given)
    assert session.scalar(select(func.count()).select_from(Template)) == 0
    saved = service.create_template(session, workspace, given, delivery.ACTOR, accounts.AT)
    assert isinstance(tried, Preview) == isinstance(saved, TemplateRow)
    if isinstance(tried, Refused):
        assert tried == saved


def test_a_trial_is_what_the_saved_template_shows(session: Session, workspace: int) -> None:
    kim = audience.contact(session, workspace, "kim@people.example", first_name="Kim")
    given = replace(GIVEN, html="<style>p { color: red }</style><p>{{ contact.last_name }}</p>")
    tried = _tried(session, workspace, given, kim.public_id)
    saved = service.create_template(session, workspace, given, delivery.ACTOR, accounts.AT)
    assert isinstance(saved, TemplateRow)
    shown = service.preview_template(
        session, workspace, saved.public_id, accounts.AT, delivery.LINKS, kim.public_id
    )
    assert tried == shown
    assert isinstance(tried, Preview)
    assert (tried.subject, tried.missing) == ("Hello Kim", ("contact.last_name",))
    assert tried.variables == ("contact.first_name", "contact.last_name")


def test_a_person_of_elsewhere_is_unknown(session: Session, workspace: int) -> None:
    other = accounts.workspace(session, "Other").id
    foreign = audience.contact(session, other, "kim@people.example").public_id
    missing = Refused("contact_not_found", "missing")
    assert _tried(session, workspace, GIVEN, foreign) == missing
