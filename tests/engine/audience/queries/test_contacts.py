"""Finding people: pages by keyset, the search, the header's look-up."""

import pytest
from sqlalchemy import insert
from sqlalchemy import text as sql
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.models import TEXT, Contact, ContactPropertyValue
from engine.core.ids import write_cursor
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.support.plans import ways


def found(session: Session, workspace: int, q: str) -> list[str | None]:
    return [row.first_name for row in queries.page_contacts(session, workspace, q=q)[0]]


def test_pages_hold_every_live_contact_once_newest_first(session: Session, workspace: int) -> None:
    people = [make.contact(session, workspace).public_id for _ in range(7)]
    make.contact(session, house_of.workspace(session).id)
    service.delete_contact(session, workspace, people.pop(3), make.ACTOR, AT)
    seen: list[str] = []
    after: str | None = None
    for _ in range(3):
        rows, after = queries.page_contacts(session, workspace, after=after, limit=2)
        seen += [row.public_id for row in rows]
    assert seen == people[::-1]
    assert after is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "%%%", "é", write_cursor("a"), write_cursor("9" * 400)]
)
def test_a_cursor_that_was_never_answered_counts_as_none(
    session: Session, workspace: int, cursor: str
) -> None:
    ada = make.contact(session, workspace)
    assert queries.page_contacts(session, workspace, after=cursor) == ([ada], None)
    assert queries.page_topics(session, workspace, after=cursor) == ([], None)


@pytest.mark.parametrize(
    ("q", "names"),
    [
        ("ad", ["Ada"]),
        ("ADA", ["Ada"]),
        ("ada love", ["Ada"]),
        ("lovelace ada", ["Ada"]),
        ("ada hopper", []),
        ("da", []),
        ("ÖZ", ["Özlem"]),
        ("özlem", ["Özlem"]),
        ("shop-", ["Özlem"]),
        ("SHOP-", []),
        ("%", []),
        ("_da", []),
        ("ada@people", ["Ada"]),
        ("", ["Özlem", "Ada"]),
        ("  ", ["Özlem", "Ada"]),
        ("a\x00da", ["Ada"]),
    ],
)
def test_the_search_takes_the_beginnings_of_words(
    session: Session, workspace: int, q: str, names: list[str]
) -> None:
    make.contact(session, workspace, "ada@people.example", first_name="Ada", last_name="Lovelace")
    make.contact(session, workspace, external_id="shop-17", first_name="Özlem")
    assert found(session, workspace, q) == names


@pytest.mark.parametrize("email", ["ada@people.example", " ADA@People.Example"])
def test_the_email_filter_is_a_whole_address(session: Session, workspace: int, email: str) -> None:
    ada = make.contact(session, workspace, "ada@people.example")
    make.contact(session, workspace, "ada@people.example.example")
    assert queries.page_contacts(session, workspace, email=email) == ([ada], None)


@pytest.mark.parametrize("email", ["ada", "\ud800", "a\x00b", ""])
def test_an_email_filter_that_is_no_address_finds_nobody(
    session: Session, workspace: int, email: str
) -> None:
    make.contact(session, workspace)
    assert queries.page_contacts(session, workspace, email=email) == ([], None)


def test_a_person_is_found_by_address_external_id_or_id(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace, "ada@people.example", external_id="C-1")
    for text in ("ADA@people.example", " C-1 ", ada.public_id):
        assert queries.find_person(session, workspace, text) == ada
    for text in ("c-1", "ada", "", " ", "a\x00", "\ud800"):
        assert queries.find_person(session, workspace, text) is None
    elsewhere = house_of.workspace(session).id
    assert queries.find_person(session, elsewhere, ada.public_id) is None


def test_rows_come_by_row_id_for_rooms_above(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    ada = make.contact(session, workspace, properties={"plan": "pro"})
    foreign = make.contact(session, house_of.workspace(session).id)
    rows = queries.contacts_by_row_id(session, workspace, [ada.row_id, foreign.row_id])
    assert rows == {ada.row_id: ada}
    assert ada.properties == {"plan": "pro"}


def test_a_name_is_what_is_known_of_it(session: Session, workspace: int) -> None:
    assert make.contact(session, workspace, first_name="Ada", last_name="King").name == "Ada King"
    assert make.contact(session, workspace, last_name="King").name == "King"
    assert make.contact(session, workspace).name == ""


def test_the_values_people_have_of_a_property_can_be_picked_from(
    session: Session, workspace: int
) -> None:
    make.custom_property(session, workspace, "plan")
    for plan in ("team", "pro", "pro", ""):
        make.contact(session, workspace, properties={"plan": plan})
    elsewhere = house_of.workspace(session).id
    make.custom_property(session, elsewhere, "plan")
    make.contact(session, elsewhere, properties={"plan": "secret"})
    assert queries.known_values(session, workspace, "plan", 20) == ["pro", "team"]
    assert queries.known_values(session, workspace, "plan", 1) == ["pro"]
    assert queries.known_values(session, workspace, "none", 20) == []


def test_a_name_is_looked_up_among_many_by_its_beginning(session: Session, workspace: int) -> None:
    shared = {"workspace_id": workspace, "updated_at": AT}
    blank = {"source": "api", "has_opened": False, "has_clicked": False, "created_at": AT}
    people = [{**shared, **blank, "public_id": f"person{number}"} for number in range(3000)]
    rows = session.scalars(
        insert(Contact).returning(Contact.id, sort_by_parameter_order=True), people
    ).all()
    values = [
        {**shared, "contact_id": row, "key": key, "type": TEXT, "text": name, "folded": name}
        for number, row in enumerate(rows)
        for key, name in (("last_name", f"n{number}"), ("plan", "pro"), ("source", "api"))
    ]
    session.execute(insert(ContactPropertyValue), values)
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sql("ANALYZE contacts, contact_property_values"))

    def ask() -> None:
        assert len(queries.page_contacts(session, workspace, q="N123")[0]) == 11

    looked_up, *_values = ways(session, "contact_property_values", ask)
    assert all("folded" in way for way in looked_up), looked_up
