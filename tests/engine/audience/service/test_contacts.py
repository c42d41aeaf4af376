"""Saving, updating and deleting contacts: identity resolution of facts 3.1, decisions A1 and A3."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import (
    API,
    MERGE,
    STRICT,
    UPSERT,
    ContactInput,
    ContactPatch,
    Mode,
    SavedContact,
)
from engine.audience.models import Contact
from engine.core.audit import AuditEntry
from engine.core.db import scope
from engine.core.events import Event
from engine.core.outcome import Problem, Refused
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT

EMAIL = "ada@people.example"


def save(
    session: Session, workspace: int, mode: Mode = MERGE, **fields: Any
) -> SavedContact | Refused:
    return service.save_contact(session, workspace, ContactInput(**fields), mode, API, AT)


def update(
    session: Session,
    workspace: int,
    public_id: str,
    properties: dict[str, object] | None = None,
    **fields: str | None,
) -> SavedContact | Refused:
    patch = ContactPatch(fields, properties or {})
    return service.update_contact(session, workspace, public_id, patch, API, AT)


def recorded(session: Session, workspace: int) -> list[tuple[str, dict[str, Any]]]:
    rows = session.execute(
        select(Event.kind, Event.data).where(Event.workspace_id == workspace).order_by(Event.id)
    )
    return [(row.kind, row.data) for row in rows]


def number_of_contacts(session: Session, workspace: int) -> int:
    ids = session.scalars(select(Contact.id).where(Contact.workspace_id == workspace))
    return len(ids.all())


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


def test_a_patch_names_every_changed_key_in_one_event(session: Session, workspace: int) -> None:
    for key in ("plan", "seats"):
        make.custom_property(session, workspace, key, "number" if key == "seats" else "text")
    ada = make.contact(session, workspace, EMAIL, {"plan": "pro", "seats": 3}, first_name="Ada")
    saved = make.saved(
        update(
            session,
            workspace,
            ada.public_id,
            {"seats": "3.0", "plan": None},
            email="ada.king@people.example",
            first_name=" Ada ",
            timezone="Europe/London",
        )
    )
    assert saved.changed == ("email", "timezone", "plan")
    assert recorded(session, workspace)[1:] == [
        ("contact_updated", {"changed_properties": ["email", "timezone", "plan"]})
    ]
    assert saved.contact.properties == {"seats": 3}
    values = queries.property_values(session, workspace, [ada.row_id])[ada.row_id]
    assert values["email"].text == "ada.king@people.example"
    assert set(values) == {"email", "first_name", "source", "seats"}


@pytest.mark.parametrize(
    ("kind", "before", "after", "changes"),
    [
        ("text", "a", "a", False),
        ("text", "a", "A", True),
        ("text", "1", 1, False),
        ("text", "a", "", True),
        ("text", None, None, False),
        ("text", None, "", True),
        ("number", 1, 1.0, False),
        ("number", 1, "0x1", False),
        ("number", 1, 2, True),
        ("number", 1, "", True),
        ("boolean", True, "true", False),
        ("boolean", True, None, True),
        ("instant", "2026-03-02", "2026-03-02T01:00:00+01:00", False),
        ("instant", "2026-03-02", "2026-03-03", True),
    ],
)
def test_contact_updated_fires_when_the_stored_value_changes(
    session: Session, workspace: int, kind: str, before: object, after: object, changes: bool
) -> None:
    make.custom_property(session, workspace, "it", kind)
    ada = make.contact(session, workspace, EMAIL, {"it": before})
    saved = make.saved(update(session, workspace, ada.public_id, {"it": after}))
    assert saved.changed == (("it",) if changes else ())
    assert len(recorded(session, workspace)) == (2 if changes else 1)


def test_null_clears_a_built_in_field_and_an_absent_one_stays(
    session: Session, workspace: int
) -> None:
    ada = make.contact(session, workspace, EMAIL, first_name="Ada", last_name="Lovelace")
    saved = make.saved(update(session, workspace, ada.public_id, first_name=None))
    assert (saved.contact.first_name, saved.contact.last_name) == (None, "Lovelace")
    assert saved.changed == ("first_name",)
    assert "first_name" not in queries.property_values(session, workspace, [ada.row_id])[ada.row_id]


def test_a_contact_keeps_at_least_one_key(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, EMAIL)
    answer = update(session, workspace, ada.public_id, email=None)
    assert isinstance(answer, Refused)
    assert answer.problems == (Problem("/email", "identity_missing"),)


def test_a_taken_address_is_a_conflict_and_leaves_the_transaction_usable(
    session: Session, workspace: int
) -> None:
    make.contact(session, workspace, EMAIL)
    other = make.contact(session, workspace, "grace@people.example")
    answer = update(session, workspace, other.public_id, email=EMAIL, first_name="Grace")
    assert answer == Refused("identity_conflict")
    assert queries.get_contact(session, workspace, other.public_id) == other


def test_a_field_that_no_contact_has_is_refused(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, EMAIL)
    answer = update(session, workspace, ada.public_id, shoe_size="38")
    assert isinstance(answer, Refused)
    assert answer.problems == (Problem("/shoe_size", "unknown_key"),)


def test_deleting_frees_the_keys_is_recorded_and_audited(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, EMAIL, external_id="C-1")
    assert service.delete_contact(session, workspace, ada.public_id, make.ACTOR, AT) is None
    assert queries.get_contact(session, workspace, ada.public_id) is None
    assert recorded(session, workspace)[-1] == ("contact_deleted", {})
    line = session.execute(select(AuditEntry.action, AuditEntry.actor, AuditEntry.resource_id))
    assert tuple(line.one()) == ("contact.deleted", make.ACTOR.name, ada.public_id)
    again = make.saved(save(session, workspace, STRICT, email=EMAIL, external_id="C-1"))
    assert again.action == "created"


@pytest.mark.parametrize("public_id", ["", "nobody", "a\x00b", "x" * 500])
def test_who_is_not_here_is_missing(session: Session, workspace: int, public_id: str) -> None:
    missing = Refused("contact_not_found", "missing")
    assert update(session, workspace, public_id, first_name="Ada") == missing
    assert service.delete_contact(session, workspace, public_id, make.ACTOR, AT) == missing


def test_a_contact_of_another_workspace_is_missing(session: Session, workspace: int) -> None:
    foreign = make.contact(session, house_of.workspace(session).id, EMAIL)
    missing = Refused("contact_not_found", "missing")
    assert update(session, workspace, foreign.public_id, first_name="Ada") == missing
    assert service.delete_contact(session, workspace, foreign.public_id, make.ACTOR, AT) == missing
    assert make.saved(save(session, workspace, STRICT, email=EMAIL)).action == "created"


def test_every_verb_passes_the_workspace_guard(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    scope(session, workspace)
    created = make.saved(save(session, workspace, email=EMAIL, properties={"plan": "pro"}))
    save(session, workspace, email=EMAIL, first_name="Ada", properties={"plan": "free"})
    public_id = created.contact.public_id
    moved = update(session, workspace, public_id, {"plan": None}, email="king@people.example")
    assert make.saved(moved).changed == ("email", "plan")
    assert service.delete_contact(session, workspace, public_id, make.ACTOR, AT) is None
    assert queries.get_contact(session, workspace, public_id) is None
