"""For how many people the fields of a template would be empty."""

import pytest
from sqlalchemy.orm import Session

from engine.delivery.queries.lacking import Lack, lacking
from tests.factories import accounts, audience


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace with three people, who have more and more."""
    workspace_id = accounts.workspace(session).id
    audience.custom_property(session, workspace_id, "plan")
    audience.custom_property(session, workspace_id, "seats", "number")
    audience.contact(session, workspace_id, "a@people.example")
    audience.contact(session, workspace_id, "b@people.example", first_name="Ada")
    audience.contact(
        session,
        workspace_id,
        "c@people.example",
        {"plan": "pro", "seats": 0},
        first_name="Cleo",
    )
    return workspace_id


def test_each_field_is_counted_the_most_frequent_lack_first(
    session: Session, workspace: int
) -> None:
    fields = ["contact.email", "contact.first_name", "contact.id", "properties.plan", "now"]
    assert lacking(session, workspace, fields) == [
        Lack("properties.plan", 2, 3),
        Lack("contact.first_name", 1, 3),
    ]


def test_nought_is_a_value(session: Session, workspace: int) -> None:
    assert lacking(session, workspace, ["properties.seats"]) == [Lack("properties.seats", 2, 3)]


def test_a_field_that_there_is_not_is_empty_for_everybody(session: Session, workspace: int) -> None:
    fields = ["contact.nickname", "properties.nothing"]
    assert [(each.count, each.of) for each in lacking(session, workspace, fields)] == [(3, 3)] * 2


def test_only_the_newest_people_of_the_workspace_are_looked_at(
    session: Session, workspace: int
) -> None:
    other = accounts.workspace(session, "Other").id
    audience.contact(session, other, "d@people.example")
    assert lacking(session, workspace, ["contact.first_name"], newest=2) == []
    assert lacking(session, other, ["contact.first_name"]) == [Lack("contact.first_name", 1, 1)]


def test_a_workspace_without_people_lacks_nothing(session: Session) -> None:
    empty = accounts.workspace(session).id
    assert lacking(session, empty, ["contact.first_name", "properties.plan"]) == []
    assert lacking(session, empty, []) == []
