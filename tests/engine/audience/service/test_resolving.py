"""Identity resolution under competition: one address is one contact, whoever comes first."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from engine.audience import queries, service
from engine.audience.inputs import API, MERGE, STRICT, ContactInput, ContactPatch, SavedContact
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT

Answer = SavedContact | Refused
HANDS = 6


def at_once(work: Callable[[int], Answer]) -> list[Answer]:
    """Run `work` on several threads that start together."""
    start = Barrier(HANDS)

    def one(number: int) -> Answer:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(HANDS) as pool:
        return list(pool.map(one, range(HANDS)))


def test_parallel_creations_of_one_address_make_one_contact(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id

    def create(number: int) -> Answer:
        sent = ContactInput(email="ada@people.example", first_name=f"Ada {number}")
        with uow.begin(workspace) as session:
            return service.save_contact(session, workspace, sent, MERGE, API, AT)

    saved = [make.saved(answer) for answer in at_once(create)]
    assert [each.action for each in saved].count("created") == 1
    assert len({each.contact.public_id for each in saved}) == 1
    with uow.read(workspace) as session:
        assert len(queries.page_contacts(session, workspace)[0]) == 1


def test_of_parallel_strict_creations_one_wins(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id

    def create(number: int) -> Answer:
        sent = ContactInput(email=f"ada{number}@people.example", external_id="C-1")
        with uow.begin(workspace) as session:
            return service.save_contact(session, workspace, sent, STRICT, API, AT)

    answers = at_once(create)
    refused = [answer.reason for answer in answers if isinstance(answer, Refused)]
    assert refused == ["already_exists"] * (HANDS - 1)


def test_of_parallel_moves_to_one_address_one_wins(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id
        people = [make.contact(session, workspace).public_id for _ in range(HANDS)]

    def move(number: int) -> Answer:
        patch = ContactPatch({"email": "ada@people.example"})
        with uow.begin(workspace) as session:
            return service.update_contact(session, workspace, people[number], patch, API, AT)

    answers = at_once(move)
    refused = [answer.reason for answer in answers if isinstance(answer, Refused)]
    assert refused == ["identity_conflict"] * (HANDS - 1)


def test_opposite_batches_do_not_wait_in_a_circle(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace = house_of.workspace(session).id
    batch = [ContactInput(email=f"p{each}@people.example", first_name="A") for each in range(40)]

    def create(number: int) -> Answer:
        ordered = batch if number % 2 else batch[::-1]
        with uow.begin(workspace) as session:
            return service.save_contacts(session, workspace, ordered, MERGE, API, AT)[0]

    assert all(isinstance(answer, SavedContact) for answer in at_once(create))
    with uow.read(workspace) as session:
        assert len(queries.page_contacts(session, workspace, limit=100)[0]) == len(batch)
