"""Conditions on a contact's property: the SQL says what facts 2.2 says, on both databases."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import API, STRICT, ContactInput, ContactPatch
from engine.core.outcome import Refused
from engine.rules import service as rules
from engine.rules.service import Condition, Evaluation
from tests.engine.rules.kinds.plain_reading import MISSING, plainly
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.rules import condition

OPERATORS = [
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "gt",
    "lt",
    "gte",
    "lte",
    "is_empty",
    "not_empty",
    "is_true",
    "is_false",
]
WORDS = [
    "",
    " ",
    "0x10",
    " 7 ",
    "1e3",
    "10",
    "9",
    "-0",
    "1_000",
    "nan",
    "inf",
    "Infinity",
    "-Infinity",
    "0b101",
    "0o17",
    ".5",
    "5.",
    "true",
    "false",
    "TRUE",
    "Straße",
    "STRASSE",
    "MÜLLER",
    "müller",
    "İstanbul",
    "ΟΔΟΣ",
    "100%",
    "a_b",
    "a\\b",
    "it's",
    '"',
    "🎉",
    "👩‍👩‍👧",
    "\ufeff12\u00a0",
    "\u2028",
    "0x" + "f" * 300,
    "9" * 400,
]
TEXTS = st.one_of(
    st.sampled_from(WORDS),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8),
)
NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False)
)

# Text, number and boolean, or no value at all: cleared by null, or never there.
STORED = st.one_of(
    st.tuples(st.sampled_from(["text", "number", "boolean"]), st.sampled_from([MISSING, None])),
    st.tuples(st.just("text"), TEXTS),
    st.tuples(st.just("number"), NUMBERS),
    st.tuples(st.just("boolean"), st.booleans()),
)
VALUES = st.one_of(st.none(), TEXTS, NUMBERS, st.booleans())


@settings(max_examples=100)
@given(stored=st.lists(STORED, min_size=6, max_size=16), value=VALUES)
def test_sql_says_what_a_plain_reading_says(
    session: Session, stored: list[tuple[str, Any]], value: Any
) -> None:
    workspace_id = house_of.workspace(session).id
    for kind in ("text", "number", "boolean"):
        make.custom_property(session, workspace_id, f"a_{kind}", kind)
    people = put_all(session, workspace_id, stored)
    for operator in OPERATORS:
        for kind in {kind for kind, _ in stored}:
            asked = contact_property(f"a_{kind}", operator, value)
            said = rules.evaluate(session, workspace_id, asked, list(people))
            expected = {
                row_id: plainly(raw if has == kind else MISSING, operator, value)
                for row_id, (has, raw) in people.items()
            }
            assert matched(said) == expected, (operator, kind, value)


def put_all(
    session: Session, workspace_id: int, stored: list[tuple[str, Any]]
) -> dict[int, tuple[str, Any]]:
    """Make a person for each value; return by row what is kept of it."""
    sent = [
        ContactInput(
            external_id=f"p{place}", properties={f"a_{kind}": _other(kind)} if raw is None else {}
        )
        for place, (kind, raw) in enumerate(stored)
    ]
    answers = audience.save_contacts(session, workspace_id, sent, STRICT, API, AT)
    rows = [make.saved(answer).contact.row_id for answer in answers]
    patches = {
        row_id: ContactPatch(properties={f"a_{kind}": raw})
        for row_id, (kind, raw) in zip(rows, stored, strict=True)
        if raw is not MISSING
    }
    changed = audience.update_contacts(session, workspace_id, patches, API, AT)
    assert not [answer for answer in changed.values() if isinstance(answer, Refused)]
    return {row_id: kept(*each) for row_id, each in zip(rows, stored, strict=True)}


def _other(kind: str) -> object:
    """Return a value that null then clears."""
    return {"text": "x", "number": 1, "boolean": True}[kind]


def put(session: Session, workspace_id: int, kind: str, raw: Any) -> int:
    person = make.contact(session, workspace_id)
    if raw is not MISSING:
        patch = ContactPatch(properties={f"a_{kind}": raw})
        make.saved(audience.update_contact(session, workspace_id, person.public_id, patch, API, AT))
    return person.row_id


def kept(kind: str, raw: Any) -> tuple[str, Any]:
    """A number property keeps what a float can tell apart; a text keeps every digit."""
    if raw is MISSING or raw is None:
        return kind, MISSING
    return kind, float(raw) if kind == "number" else raw


def contact_property(field: str, operator: str, value: Any = None) -> Condition:
    return condition(kind="contact_property", field=field, operator=operator, value=value)


def matched(said: Mapping[int, Evaluation]) -> dict[int, bool]:
    return {row_id: each.matched for row_id, each in said.items()}


def outcome(session: Session, workspace_id: int, row_id: int, asked: Condition) -> Evaluation:
    return rules.evaluate(session, workspace_id, asked, [row_id])[row_id]


@pytest.mark.parametrize(
    ("stored", "operator", "value", "expected"),
    [
        (MISSING, "equals", None, True),
        (MISSING, "equals", "", True),
        (MISSING, "equals", "x", False),
        (MISSING, "not_equals", "x", True),
        (MISSING, "not_contains", "x", True),
        (MISSING, "contains", "", True),
        (MISSING, "gt", -1, False),
        (MISSING, "lte", 1, False),
        (MISSING, "is_true", None, False),
        (MISSING, "is_false", None, False),
        (MISSING, "is_empty", None, True),
        ("", "is_empty", None, True),
        ("", "gte", 0, True),
        (" ", "not_empty", None, True),
        ("10", "gt", "9", True),
        ("abc", "gt", "0", False),
        ("5", "gt", "abc", False),
        ("0x10", "equals", "16", False),
        ("0x10", "gte", 16, True),
        ("1e3", "lt", 1001, True),
        ("1_000", "gte", 0, False),
        ("nan", "lte", 1, False),
        ("MÜLLER", "equals", "müller", True),
        ("Straße", "contains", "RASS", False),
        ("50% off", "contains", "%_", False),
        ("50%_off", "contains", "%_", True),
        ("true", "is_true", None, True),
        ("True", "is_true", None, False),
        ("false", "is_false", None, True),
        ("1", "is_true", None, False),
        ("true", "equals", True, True),
        (" x", "equals", "x", False),
    ],
)
def test_facts_2_2_case_by_case(
    session: Session, workspace: int, stored: Any, operator: str, value: Any, expected: bool
) -> None:
    make.custom_property(session, workspace, "a_text")
    row_id = put(session, workspace, "text", stored)
    asked = contact_property("a_text", operator, value)
    assert outcome(session, workspace, row_id, asked).matched is expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "ADA@people.example"),
        ("first_name", "ada"),
        ("last_name", "Lovelace"),
        ("source", "api"),
    ],
)
def test_built_in_fields_compare_like_properties(
    session: Session, workspace: int, field: str, value: str
) -> None:
    ada = make.contact(
        session, workspace, "ada@people.example", first_name="Ada", last_name="Lovelace"
    )
    asked = contact_property(field, "equals", value)
    assert outcome(session, workspace, ada.row_id, asked).matched


@pytest.mark.parametrize("field", ["timezone", "language", "never_defined"])
def test_a_field_that_conditions_do_not_know_is_a_missing_value(
    session: Session, workspace: int, field: str
) -> None:
    ada = make.contact(session, workspace, language="de", timezone="Europe/Berlin")
    asked = contact_property(field, "is_empty")
    assert outcome(session, workspace, ada.row_id, asked) == Evaluation(True, None)


def test_the_value_that_decided_is_answered_as_text(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "a_number", "number")
    row_id = put(session, workspace, "number", "1e21")
    asked = contact_property("a_number", "gt", 5)
    assert outcome(session, workspace, row_id, asked) == Evaluation(True, "1e+21")


def test_a_value_of_another_contact_or_workspace_never_counts(
    session: Session, workspace: int
) -> None:
    elsewhere = house_of.workspace(session).id
    for each in (workspace, elsewhere):
        make.custom_property(session, each, "a_text")
    put(session, elsewhere, "text", "gold")
    put(session, workspace, "text", "gold")
    nobody = put(session, workspace, "text", MISSING)
    asked = contact_property("a_text", "equals", "gold")
    assert outcome(session, workspace, nobody, asked) == Evaluation(False, None)
