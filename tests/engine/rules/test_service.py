"""Conditions as documents, as predicates of whole queries, and what they name."""

from typing import Any

import pytest
from sqlalchemy import and_, event, not_, select
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.models import Contact
from engine.core.db import scope
from engine.core.outcome import Problem
from engine.rules import service as rules
from engine.rules.kinds import CONDITIONS
from engine.rules.service import Condition, MissingReference
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.rules import condition

DOCUMENTS: list[dict[str, Any]] = [
    {"kind": "contact_property", "field": "plan", "operator": "equals", "value": "pro"},
    {"kind": "contact_property", "field": "plan", "operator": "gt", "value": 1.5},
    {"kind": "contact_property", "field": "plan", "operator": "equals", "value": True},
    {"kind": "contact_property", "field": "plan", "operator": "is_true"},
    {"kind": "email_activity", "field": "opened", "operator": "is_false"},
    {"kind": "topic_membership", "topic_id": "T0", "operator": "not_equals"},
]


def test_every_kind_is_among_the_documents() -> None:
    assert {document["kind"] for document in DOCUMENTS} == set(CONDITIONS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_comes_back_as_it_went_in(document: dict[str, Any]) -> None:
    assert rules.to_document(condition(**document)) == document


def test_equal_documents_are_one_condition_and_1_is_not_true() -> None:
    one, same, yes = (condition(**{**DOCUMENTS[0], "value": value}) for value in (1, 1, True))
    assert one == same
    assert len({one, same, yes}) == 2
    assert one != condition(kind="email_activity", field="opened", operator="is_true")
    assert one != "contact_property"


@pytest.mark.parametrize(
    ("raw", "pointer", "code"),
    [
        ("equals", "/c", "not_an_object"),
        (None, "/c", "not_an_object"),
        ({}, "/c/kind", "required"),
        ({"kind": "weather"}, "/c/kind", "unknown_kind"),
        ({"kind": ["contact_property"]}, "/c/kind", "unknown_kind"),
        ({**DOCUMENTS[0], "field": ""}, "/c/field", "wrong_value"),
        ({**DOCUMENTS[0], "field": "x" * 101}, "/c/field", "wrong_value"),
        ({**DOCUMENTS[0], "field": 7}, "/c/field", "wrong_value"),
        ({**DOCUMENTS[0], "operator": "like"}, "/c/operator", "wrong_value"),
        ({**DOCUMENTS[0], "value": ["pro"]}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "value": float("nan")}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "value": 10**400}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "value": "a\x00b"}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "value": "\ud800"}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "value": "x" * 10_001}, "/c/value", "wrong_value"),
        ({**DOCUMENTS[0], "a/b~c": 1}, "/c/a~1b~0c", "unknown_key"),
        ({"kind": "email_activity", "field": "opened"}, "/c/operator", "required"),
        ({**DOCUMENTS[4], "field": "bounced"}, "/c/field", "wrong_value"),
        ({**DOCUMENTS[4], "value": True}, "/c/value", "unknown_key"),
        ({**DOCUMENTS[5], "topic_id": ""}, "/c/topic_id", "wrong_value"),
        ({**DOCUMENTS[5], "operator": "is_true"}, "/c/operator", "wrong_value"),
    ],
)
def test_a_fault_is_named_at_its_place(raw: object, pointer: str, code: str) -> None:
    problems = rules.read_condition(raw, "/c")
    assert isinstance(problems, list)
    assert [(problem.pointer, problem.code) for problem in problems] == [(pointer, code)]


def test_every_fault_is_named_at_once() -> None:
    problems = rules.read_condition({"kind": "contact_property", "extra": 1}, "")
    assert problems == [
        Problem("/field", "required"),
        Problem("/operator", "required"),
        Problem("/extra", "unknown_key"),
    ]


def test_predicates_combine_in_one_query(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, first_name="Ada")
    make.contact(session, workspace, first_name="Ada", last_name="Byron")
    make.contact(session, workspace, first_name="Grace")
    named = condition(kind="contact_property", field="first_name", operator="equals", value="ada")
    surname = condition(kind="contact_property", field="last_name", operator="not_empty")
    both = and_(rules.predicate(named, workspace), not_(rules.predicate(surname, workspace)))
    query = select(Contact.id).where(Contact.workspace_id == workspace, both)
    assert session.scalars(query).all() == [ada.row_id]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_batch_is_one_statement_that_the_workspace_guard_lets_pass(
    session: Session, workspace: int, document: dict[str, Any]
) -> None:
    people = [make.contact(session, workspace).row_id for _ in range(3)]
    session.flush()
    scope(session, workspace)
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(session.get_bind(), "before_cursor_execute", note)
    said = rules.evaluate(session, workspace, condition(**document), people)
    assert set(said) == set(people)
    assert len(statements) == 1


def test_deleted_and_foreign_contacts_have_no_answer(session: Session, workspace: int) -> None:
    gone = make.contact(session, workspace)
    audience.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    foreign = make.contact(session, house_of.workspace(session).id)
    asked = condition(**DOCUMENTS[4])
    assert rules.evaluate(session, workspace, asked, [gone.row_id, foreign.row_id]) == {}
    assert rules.evaluate(session, workspace, asked, []) == {}


def test_what_is_missing_is_named_by_condition(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    topic = make.topic(session, workspace)
    foreign = make.topic(session, house_of.workspace(session).id)

    def named(document: dict[str, Any], **more: str) -> Condition:
        return condition(**{**document, **more})

    asked = [
        named(DOCUMENTS[0]),
        named(DOCUMENTS[0], field="email"),
        named(DOCUMENTS[0], field="tier"),
        named(DOCUMENTS[4]),
        named(DOCUMENTS[5], topic_id=topic.public_id),
        named(DOCUMENTS[5], topic_id=foreign.public_id),
    ]
    assert rules.missing_references(session, workspace, asked) == [
        MissingReference(2, "property", "tier"),
        MissingReference(5, "topic", foreign.public_id),
    ]


@pytest.mark.parametrize(
    ("document", "parts"),
    [
        (DOCUMENTS[0], ("plan", "equals", "pro")),
        (DOCUMENTS[1], ("plan", "gt", "1.5")),
        (DOCUMENTS[3], ("plan", "is_true", None)),
        (DOCUMENTS[4], ("opened", "is_false", None)),
        (DOCUMENTS[5], ("topic", "not_equals", "T0")),
    ],
)
def test_a_page_gets_the_parts_to_put_into_words(
    document: dict[str, Any], parts: tuple[str, str, str | None]
) -> None:
    said = rules.describe(condition(**document))
    assert (said.field, said.operator, said.value) == parts
