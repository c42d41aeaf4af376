"""How the databases read sends: a page or a purge never walks the mails of a whole workspace."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from engine.audience import queries as audiences
from engine.core.clock import FixedClock
from engine.core.ids import write_cursor
from engine.core.machine import born
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import pruning, queries
from engine.delivery.lifecycle import SENDS
from engine.delivery.models import FAILED, QUEUED, SENT, EmailSend
from tests.factories import audience
from tests.factories.delivery import SENDER
from tests.factories.world import World
from tests.support.plans import ways

TABLE: Final = "email_sends"
PEOPLE: Final = 120
MAILS: Final = 20


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    """Return a world whose people got many mails; a few failed, and none waits."""
    made = World(uow, clock)
    with uow.begin() as session:
        people = [
            audience.contact(session, made.workspace_id, f"p{number}@people.example").row_id
            for number in range(PEOPLE)
        ]
        for number in range(MAILS):
            session.execute(
                insert(EmailSend),
                [_mail(made, person, f"{number}:{person}", number == 0) for person in people],
            )
        if session.get_bind().dialect.name == "postgresql":
            # By itself before long; the embedded database never learns what its tables hold.
            session.execute(text("ANALYZE"))
    return made


def _mail(made: World, person: int, key: str, failed: bool) -> dict[str, object]:
    at = made.clock.now() - timedelta(days=1)
    public_id = f"mail{key.replace(':', 'x')}"
    return {
        **born(SENDS, FAILED if failed else SENT),
        "workspace_id": made.workspace_id,
        "public_id": public_id,
        "kind": "automation",
        "pool": "transactional",
        "contact_id": person,
        "context": {},
        "to_email": "kim@people.example",
        "from_email": SENDER,
        "from_name": "Acme",
        "attempt": 1,
        "dedupe_key": key,
        "message_id": f"<{public_id}@acme.example>",
        "queued_at": at,
        "due_at": at,
    }


def taken(world: World, action: Callable[[Session], object]) -> set[str]:
    """Return the ways that the one statement of `action` takes to the sends."""
    with world.uow.begin(world.workspace_id) as session:
        (found,) = ways(session, TABLE, lambda: action(session))
    return found


def test_a_message_id_is_found_by_the_public_id_in_it(world: World) -> None:
    named = f"mail1x{world_person(world)}@acme.example"

    def ask(session: Session) -> None:
        found, _ = queries.page_sends(session, world.workspace_id, message_id=named)
        assert len(found) == 1

    (way,) = taken(world, ask)
    assert "public_id" in way, way


def world_person(world: World) -> int:
    """Return the row id of somebody who got mail."""
    with world.uow.read() as session:
        found = session.scalar(text("SELECT max(contact_id) FROM email_sends"))
        assert isinstance(found, int)
        return found


@pytest.mark.parametrize(
    "named", ["Kim", "no@acme.example", "ünknown@acme.example", "", "\0", "a@\0", "a@\ud800"]
)
def test_a_text_that_is_no_message_id_finds_nothing(world: World, named: str) -> None:
    with world.uow.read(world.workspace_id) as session:
        assert queries.page_sends(session, world.workspace_id, message_id=named) == ([], None)


def test_the_message_id_must_be_the_one_that_left(world: World) -> None:
    named = f"mail1x{world_person(world)}@other.example"
    with world.uow.read() as session:
        assert queries.page_sends(session, world.workspace_id, message_id=named) == ([], None)


def test_where_nothing_waits_the_page_of_waiting_mail_reads_the_index_of_what_is_due(
    world: World,
) -> None:
    def ask(session: Session) -> None:
        found = queries.page_sends(session, world.workspace_id, status=QUEUED)
        assert found == ([], None)

    assert any("ix_email_sends_due" in way for way in taken(world, ask))


def test_failed_mail_is_paged_by_an_index_of_its_status(world: World) -> None:
    def ask(session: Session) -> None:
        found, _ = queries.page_sends(session, world.workspace_id, status=FAILED)
        assert len(found) == 50

    found = taken(world, ask)
    assert any("ix_email_sends_ended" in way for way in found), found


@pytest.mark.parametrize(
    ("filters", "many"), [({}, MAILS), ({"after": write_cursor(40)}, 0), ({"status": FAILED}, 1)]
)
def test_the_mails_of_a_person_are_paged_without_those_of_others(
    world: World, filters: dict[str, Any], many: int
) -> None:
    with world.uow.read() as session:
        row_id = world_person(world)
        person = audiences.contacts_by_row_id(session, world.workspace_id, [row_id])[row_id]

    def ask(session: Session) -> None:
        found, _ = queries.page_sends(
            session, world.workspace_id, contact=person.public_id, **filters
        )
        assert len(found) == many

    found = taken(world, ask)
    assert any("contact_id" in way for way in found), found


def test_the_purge_reads_the_mails_of_its_people_alone(world: World) -> None:
    person = world_person(world)

    def forget(session: Session) -> None:
        assert pruning.forget_people(session, world.workspace_id, [person, person - 1]) == 2 * MAILS

    with world.uow.begin() as session:
        first, *_ = ways(session, TABLE, lambda: forget(session))
    (way,) = first
    assert "contact_id" in way, way
