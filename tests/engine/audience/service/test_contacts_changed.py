"""Changing and deleting contacts: what an update says and does, decisions A1 and A3."""

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import AUTOMATION, STRICT, ContactPatch, ValueChange
from engine.core.audit import AuditEntry
from engine.core.db import scope
from engine.core.outcome import Problem, Refused
from tests.engine.audience.service.calls import (
    EMAIL,
    recorded,
    save,
    update,
)
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT


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


def test_many_are_changed_each_by_their_own_patch(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "seats", "number")
    ada, bob, eve, gone = (
        make.contact(session, workspace, properties={"seats": 1}, first_name=name)
        for name in ("Ada", "Bob", "Eve", "Gone")
    )
    foreign = make.contact(session, house_of.workspace(session).id)
    service.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    before = recorded(session, workspace)
    more = ContactPatch(properties={"seats": 2.5})
    patches = {
        ada.row_id: more,
        bob.row_id: ContactPatch({"first_name": "Bob", "email": EMAIL}, {"seats": "1"}),
        eve.row_id: ContactPatch({"email": EMAIL.upper(), "last_name": None}),
        gone.row_id: more,
        foreign.row_id: more,
        0: ContactPatch(properties={"seats": "many"}),
    }
    scope(session, workspace)
    answers = service.update_contacts(session, workspace, patches, AUTOMATION, AT)
    missing = Refused("contact_not_found", "missing")
    assert answers == {
        ada.row_id: (ValueChange("seats", 1, 2.5),),
        bob.row_id: (ValueChange("email", bob.email, EMAIL),),
        eve.row_id: Refused("identity_conflict"),
        gone.row_id: missing,
        foreign.row_id: missing,
        0: Refused("invalid_contact", "invalid", (Problem("/properties/seats", "not_a_number"),)),
    }
    assert recorded(session, workspace)[len(before) :] == [
        ("contact_updated", {"changed_properties": ["seats"]}),
        ("contact_updated", {"changed_properties": ["email"]}),
    ]
    again = service.update_contacts(session, workspace, {ada.row_id: more}, AUTOMATION, AT)
    assert again == {ada.row_id: ()}
    assert service.update_contacts(session, workspace, {}, AUTOMATION, AT) == {}


@pytest.mark.parametrize(
    "number", ["Infinity", "-Infinity", "0.1e-300", "4.35", "123456789012345678"]
)
def test_a_text_that_spells_any_number_is_stored_as_that_number(
    session: Session, workspace: int, number: str
) -> None:
    make.custom_property(session, workspace, "it")
    ada = make.contact(session, workspace, EMAIL)
    make.saved(update(session, workspace, ada.public_id, {"it": number}))
    values = queries.property_values(session, workspace, [ada.row_id], ["it"])[ada.row_id]
    assert (values["it"].text, values["it"].number) == (number, float(number))


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
