"""Saving contacts: identity resolution of facts 3.1, decision A1."""

from typing import Any

import pytest
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import (
    API,
    MERGE,
    STRICT,
    UPSERT,
    ContactInput,
    Mode,
)
from engine.core.outcome import Refused
from tests.engine.audience.service.calls import (
    EMAIL,
    number_of_contacts,
    recorded,
    save,
)
from tests.factories import audience as make
from tests.factories.accounts import AT


def test_a_new_contact_is_created_with_its_values_and_one_event(
    session: Session, workspace: int
) -> None:
    make.custom_property(session, workspace, "plan")
    answer = save(
        session,
        workspace,
        email=" Ada@People.example",
        first_name=" Ada ",
        language="de",
        timezone="Europe/Berlin",
        properties={"plan": "pro"},
    )
    saved = make.saved(answer)
    assert (saved.action, saved.changed) == ("created", ())
    assert (saved.contact.email, saved.contact.first_name) == (EMAIL, "Ada")
    assert saved.contact.properties == {"plan": "pro"}
    assert recorded(session, workspace) == [("contact_created", {"source": "api"})]
    values = queries.property_values(session, workspace, [saved.contact.row_id])
    texts = {key: value.text for key, value in values[saved.contact.row_id].items()}
    assert texts == {"email": EMAIL, "first_name": "Ada", "source": "api", "plan": "pro"}


@pytest.mark.parametrize(
    ("mode", "action", "first_name", "events"),
    [(UPSERT, "matched", "Ada", 1), (MERGE, "updated", "Augusta", 2)],
)
def test_a_known_address_is_matched_by_mode(
    session: Session, workspace: int, mode: Mode, action: str, first_name: str, events: int
) -> None:
    make.contact(session, workspace, EMAIL, first_name="Ada")
    saved = make.saved(save(session, workspace, mode, email=EMAIL.upper(), first_name="Augusta"))
    assert (saved.action, saved.contact.first_name) == (action, first_name)
    assert len(recorded(session, workspace)) == events
    assert number_of_contacts(session, workspace) == 1


def test_strict_refuses_a_known_address_and_changes_nothing(
    session: Session, workspace: int
) -> None:
    known = make.contact(session, workspace, EMAIL, first_name="Ada")
    answer = save(session, workspace, STRICT, email=EMAIL, first_name="Augusta")
    assert answer == Refused("already_exists", params={"id": known.public_id})
    assert queries.get_contact(session, workspace, known.public_id) == known


def test_merge_leaves_alone_what_is_empty_or_equal(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    make.contact(session, workspace, EMAIL, {"plan": "pro"}, first_name="Ada", language="de")
    answer = save(
        session,
        workspace,
        email=EMAIL,
        first_name=" Ada ",
        last_name="  ",
        language=None,
        properties={"plan": None},
    )
    saved = make.saved(answer)
    assert (saved.action, saved.changed) == ("matched", ())
    assert saved.contact.properties == {"plan": "pro"}
    assert saved.contact.language == "de"
    assert len(recorded(session, workspace)) == 1


def test_the_external_id_is_the_second_key(session: Session, workspace: int) -> None:
    known = make.contact(session, workspace, EMAIL, external_id="C-1")
    renamed = make.saved(
        save(session, workspace, email="ada.king@people.example", external_id="C-1")
    )
    assert renamed.contact.public_id == known.public_id
    assert (renamed.action, renamed.changed) == ("updated", ("email",))
    assert renamed.contact.email == "ada.king@people.example"


def test_the_external_id_tells_case_apart(session: Session, workspace: int) -> None:
    make.contact(session, workspace, external_id="c-1")
    assert make.saved(save(session, workspace, external_id="C-1")).action == "created"


def test_merge_fills_a_missing_external_id_without_an_event(
    session: Session, workspace: int
) -> None:
    make.contact(session, workspace, EMAIL)
    saved = make.saved(save(session, workspace, email=EMAIL, external_id="C-1"))
    assert (saved.action, saved.changed) == ("updated", ())
    assert saved.contact.external_id == "C-1"
    assert len(recorded(session, workspace)) == 1


@pytest.mark.parametrize("mode", [STRICT, UPSERT, MERGE])
def test_two_keys_of_two_contacts_are_a_conflict(
    session: Session, workspace: int, mode: Mode
) -> None:
    first = make.contact(session, workspace, EMAIL)
    make.contact(session, workspace, external_id="C-1")
    answer = save(session, workspace, mode, email=EMAIL, external_id="C-1")
    assert answer == Refused("identity_conflict", params={"id": first.public_id})


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({}, "/email", "identity_missing"),
        ({"first_name": "Ada"}, "/email", "identity_missing"),
        ({"email": "ada"}, "/email", "invalid_email"),
        ({"email": "ada@people.example\r\nBcc: x@y.example"}, "/email", "invalid_email"),
        ({"email": EMAIL, "first_name": "x" * 201}, "/first_name", "too_long"),
        ({"email": EMAIL, "last_name": "Love\nlace"}, "/last_name", "invalid_text"),
        ({"email": EMAIL, "external_id": "a\x00b"}, "/external_id", "invalid_text"),
        ({"email": EMAIL, "language": "german!"}, "/language", "invalid_language"),
        ({"email": EMAIL, "language": "x" * 10_001}, "/language", "too_long"),
        ({"email": EMAIL, "timezone": "Mars/Olympus"}, "/timezone", "unknown_timezone"),
        ({"email": EMAIL, "properties": {"a/b": 1}}, "/properties/a~1b", "unknown_property"),
        ({"email": EMAIL, "properties": {"seats": "many"}}, "/properties/seats", "not_a_number"),
    ],
)
def test_a_faulty_contact_is_refused_with_its_place_and_nothing_is_stored(
    session: Session, workspace: int, fields: dict[str, Any], pointer: str, code: str
) -> None:
    make.custom_property(session, workspace, "seats", "number")
    answer = save(session, workspace, **fields)
    assert isinstance(answer, Refused)
    assert (answer.reason, answer.kind) == ("invalid_contact", "invalid")
    assert [(each.pointer, each.code) for each in answer.problems] == [(pointer, code)]
    assert number_of_contacts(session, workspace) == 0


def test_a_batch_answers_in_order_and_counts_repeats_as_sent_one_after_the_other(
    session: Session, workspace: int
) -> None:
    make.contact(session, workspace, EMAIL)
    batch = [
        ContactInput(email="new@people.example", first_name="One"),
        ContactInput(email="no address"),
        ContactInput(email=EMAIL, last_name="Lovelace"),
        ContactInput(email="NEW@people.example", first_name="Two"),
    ]
    answers = service.save_contacts(session, workspace, batch, MERGE, API, AT)
    assert isinstance(answers[1], Refused)
    first, known, again = (make.saved(answers[place]) for place in (0, 2, 3))
    assert [first.action, known.action, again.action] == ["created", "updated", "updated"]
    assert first.contact.public_id == again.contact.public_id
    assert again.contact.first_name == "Two"
    assert [kind for kind, _ in recorded(session, workspace)] == [
        "contact_created",
        "contact_updated",
        "contact_created",
        "contact_updated",
    ]
