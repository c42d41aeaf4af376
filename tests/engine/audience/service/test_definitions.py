"""Custom properties and topics: what may be defined, and that every change is audited."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API, ContactPatch, PropertyInput, TopicInput
from engine.audience.queries import PropertyRow, TopicRow
from engine.core.audit import AuditEntry
from engine.core.db import scope
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.audience import ACTOR


def audited(session: Session, workspace: int) -> list[str]:
    rows = session.scalars(
        select(AuditEntry.action)
        .where(AuditEntry.workspace_id == workspace, AuditEntry.actor == ACTOR.name)
        .order_by(AuditEntry.id)
    )
    return list(rows)


def test_a_property_lives_from_definition_to_deletion(session: Session, workspace: int) -> None:
    scope(session, workspace)
    row = service.create_property(session, workspace, PropertyInput("plan", "text"), ACTOR, AT)
    assert isinstance(row, PropertyRow)
    assert (row.key, row.label, row.type) == ("plan", "plan", "text")
    ada = make.contact(session, workspace, properties={"plan": "pro"})
    renamed = service.update_property(session, workspace, row.public_id, " Plan ", ACTOR, AT)
    assert isinstance(renamed, PropertyRow)
    assert renamed.label == "Plan"
    assert service.delete_property(session, workspace, row.public_id, ACTOR, AT) is None
    assert queries.get_property(session, workspace, row.public_id) is None
    found = queries.get_contact(session, workspace, ada.public_id)
    assert found is not None
    assert found.properties == {}
    session.flush()
    assert audited(session, workspace) == [
        "property.created",
        "property.updated",
        "property.deleted",
    ]


@pytest.mark.parametrize(
    ("sent", "pointer", "code"),
    [
        (PropertyInput("", "text", "Plan"), "/key", "invalid_key"),
        (PropertyInput("my plan", "text"), "/key", "invalid_key"),
        (PropertyInput("1st", "text"), "/key", "invalid_key"),
        (PropertyInput("größe", "text"), "/key", "invalid_key"),
        (PropertyInput("k" * 101, "text"), "/key", "invalid_key"),
        (PropertyInput("plan\n", "text"), "/key", "invalid_key"),
        (PropertyInput("email", "text"), "/key", "reserved_key"),
        (PropertyInput("timezone", "text"), "/key", "reserved_key"),
        (PropertyInput("plan", "colour"), "/type", "unknown_type"),
        (PropertyInput("plan", "text", "x" * 201), "/label", "too_long"),
        (PropertyInput("plan", "text", "a\x00b"), "/label", "invalid_text"),
    ],
)
def test_a_faulty_property_is_refused(
    session: Session, workspace: int, sent: PropertyInput, pointer: str, code: str
) -> None:
    answer = service.create_property(session, workspace, sent, ACTOR, AT)
    assert isinstance(answer, Refused)
    assert [(each.pointer, each.code) for each in answer.problems] == [(pointer, code)]
    assert queries.list_properties(session, workspace) == ([], None)


def test_a_key_is_defined_once_a_workspace(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    again = service.create_property(session, workspace, PropertyInput("plan", "number"), ACTOR, AT)
    assert again == Refused("property_exists", params={"key": "plan"})
    make.custom_property(session, house_of.workspace(session).id, "plan")


def test_a_topic_lives_from_creation_to_deletion(session: Session, workspace: int) -> None:
    scope(session, workspace)
    row = service.create_topic(session, workspace, TopicInput(" News ", "Monthly"), ACTOR, AT)
    assert isinstance(row, TopicRow)
    assert (row.name, row.description, row.require_double_opt_in) == ("News", "Monthly", True)
    opened = TopicInput("News", require_double_opt_in=False)
    changed = service.update_topic(session, workspace, row.public_id, opened, ACTOR, AT)
    assert isinstance(changed, TopicRow)
    assert (changed.description, changed.require_double_opt_in) == (None, False)
    ada = make.contact(session, workspace)
    service.subscribe(session, workspace, row.public_id, ada.public_id, API, AT)
    assert service.delete_topic(session, workspace, row.public_id, ACTOR, AT) is None
    assert queries.get_topic(session, workspace, row.public_id) is None
    assert queries.memberships(session, workspace, ada.public_id) == []
    session.flush()
    assert audited(session, workspace) == ["topic.created", "topic.updated", "topic.deleted"]


@pytest.mark.parametrize(
    ("sent", "pointer", "code"),
    [
        (TopicInput("  "), "/name", "required"),
        (TopicInput("x" * 201), "/name", "too_long"),
        (TopicInput("a\x00b"), "/name", "invalid_text"),
        (TopicInput("News", "x" * 5001), "/description", "too_long"),
    ],
)
def test_a_faulty_topic_is_refused(
    session: Session, workspace: int, sent: TopicInput, pointer: str, code: str
) -> None:
    topic = make.topic(session, workspace)
    for answer in (
        service.create_topic(session, workspace, sent, ACTOR, AT),
        service.update_topic(session, workspace, topic.public_id, sent, ACTOR, AT),
    ):
        assert isinstance(answer, Refused)
        assert [(each.pointer, each.code) for each in answer.problems] == [(pointer, code)]


NEWS = TopicInput("News")


@pytest.mark.parametrize("impossible", [True, False])
@pytest.mark.parametrize(
    ("verb", "reason"),
    [
        (lambda s, w, i: service.update_property(s, w, i, "x", ACTOR, AT), "property_not_found"),
        (lambda s, w, i: service.delete_property(s, w, i, ACTOR, AT), "property_not_found"),
        (lambda s, w, i: service.update_topic(s, w, i, NEWS, ACTOR, AT), "topic_not_found"),
        (lambda s, w, i: service.delete_topic(s, w, i, ACTOR, AT), "topic_not_found"),
    ],
)
def test_what_is_elsewhere_or_nowhere_is_missing(
    session: Session, workspace: int, verb: Callable[..., Any], reason: str, impossible: bool
) -> None:
    elsewhere = house_of.workspace(session).id
    foreign = (
        make.custom_property(session, elsewhere, "plan").public_id
        if reason == "property_not_found"
        else make.topic(session, elsewhere).public_id
    )
    asked = "no\x00body" if impossible else foreign
    assert verb(session, workspace, asked) == Refused(reason, "missing")


def test_deleting_a_property_while_people_get_it_ends_for_both(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id
        rows = [make.contact(session, workspace).row_id for _ in range(60)]
    for _round in range(4):
        with uow.begin() as session:
            defined = make.custom_property(session, workspace, "plan").public_id
            put(session, workspace, rows, "a")

        def change(number: int, defined: str = defined) -> object:
            with uow.begin() as session:
                if number == 0:
                    return service.delete_property(session, workspace, defined, make.ACTOR, AT)
                return put(session, workspace, rows[::number], f"b{number}")

        with ThreadPoolExecutor(4) as hands:
            answers = list(hands.map(change, [2, 0, -1, 1]))
        assert answers[1] is None
        with uow.read() as session:
            kept = queries.property_values(session, workspace, rows, ["plan"])
        assert kept == {}, "a value without its property"


def put(session: Session, workspace: int, rows: list[int], plan: str) -> object:
    patches = {row: ContactPatch(properties={"plan": plan}) for row in rows}
    return service.update_contacts(session, workspace, patches, API, AT)
