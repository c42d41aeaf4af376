"""The suppression list: one entry an address, whatever its spelling, and who changed it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API
from engine.audience.models import MANUAL, Suppression
from engine.audience.queries import SuppressionRow
from engine.core.audit import AuditEntry
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.audience import ACTOR
from tests.support.plans import ways

AT = accounts.AT


@pytest.fixture
def workspace(uow: UnitOfWork) -> int:
    with uow.begin() as session:
        return accounts.workspace(session).id


def block(
    session: Session, workspace_id: int, email: str, reason: str = "manual"
) -> SuppressionRow | Refused:
    return service.suppress(session, workspace_id, email, API, ACTOR, AT, reason)


def test_an_address_is_blocked_once_in_any_spelling(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin(workspace) as session:
        row = block(session, workspace, " Kim@Müller.example ")
        assert isinstance(row, SuppressionRow)
        assert (row.email, row.reason, row.source) == ("kim@xn--mller-kva.example", "manual", API)
        again = block(session, workspace, "kim@MÜLLER.example", "complained")
        assert again == Refused("already_suppressed")
    with uow.read(workspace) as session:
        assert queries.page_suppressions(session, workspace) == ([row], None)
        [entry] = session.scalars(select(AuditEntry)).all()
    assert (entry.action, entry.resource, entry.resource_id) == (
        "blocklist.added",
        "blocklist",
        row.public_id,
    )


@pytest.mark.parametrize(
    ("email", "reason", "refused"),
    [
        ("nobody", "manual", "invalid_email"),
        ("a@b.example\r\nBcc: x@y.example", "manual", "invalid_email"),
        ("kim@people.example", "because", "unknown_reason"),
    ],
)
def test_what_is_no_address_and_no_reason_is_refused(
    uow: UnitOfWork, workspace: int, email: str, reason: str, refused: str
) -> None:
    with uow.begin(workspace) as session:
        answer = block(session, workspace, email, reason)
        assert isinstance(answer, Refused)
        assert answer.reason == refused
        assert queries.page_suppressions(session, workspace) == ([], None)


@pytest.mark.parametrize("stronger", ["bounced", "complained", "manual"])
def test_unengaged_gives_way_to_what_stops_every_mail(
    uow: UnitOfWork, workspace: int, stronger: str
) -> None:
    with uow.begin(workspace) as session:
        first = block(session, workspace, "kim@people.example", "unengaged")
        assert isinstance(first, SuppressionRow)
        assert block(session, workspace, "kim@people.example", "unengaged") == Refused(
            "already_suppressed"
        )
        hard = block(session, workspace, "kim@people.example", stronger)
        assert isinstance(hard, SuppressionRow)
        assert (hard.public_id, hard.reason) == (first.public_id, stronger)
        soft = block(session, workspace, "kim@people.example", "unengaged")
        assert soft == Refused("already_suppressed")


def test_a_released_address_may_be_blocked_again(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin(workspace) as session:
        row = block(session, workspace, "kim@people.example")
        assert isinstance(row, SuppressionRow)
        assert service.release(session, workspace, row.public_id, ACTOR, AT) is None
        gone = service.release(session, workspace, row.public_id, ACTOR, AT)
        assert gone == Refused("suppression_not_found", "missing")
        assert isinstance(block(session, workspace, "kim@people.example"), SuppressionRow)
    with uow.read(workspace) as session:
        actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == ["blocklist.added", "blocklist.removed", "blocklist.added"]


def test_another_workspace_neither_sees_nor_releases_it(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin() as session:
        row = block(session, workspace, "kim@people.example")
        other = accounts.workspace(session, "Other").id
        assert isinstance(row, SuppressionRow)
        assert queries.page_suppressions(session, other) == ([], None)
        assert queries.get_suppression(session, other, row.public_id) is None
        assert isinstance(service.release(session, other, row.public_id, ACTOR, AT), Refused)
        assert queries.get_suppression(session, workspace, row.public_id) == row


def test_of_two_at_once_one_blocks_the_address(uow: UnitOfWork, workspace: int) -> None:
    start = Barrier(2)

    def add(_number: int) -> SuppressionRow | Refused:
        start.wait()
        with uow.begin(workspace) as session:
            return block(session, workspace, "kim@people.example")

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(add, range(2)))
    assert sorted(type(answer).__name__ for answer in answers) == ["Refused", "SuppressionRow"]


def test_the_list_goes_by_pages_and_by_what_an_address_begins_with(
    uow: UnitOfWork, workspace: int
) -> None:
    with uow.begin(workspace) as session:
        for name in ("ada", "adam", "bob", "ad%"):
            block(session, workspace, f"{name}@people.example")
        pages, after = [], None
        while True:
            rows, after = queries.page_suppressions(session, workspace, after=after, limit=3)
            pages.append([row.email.split("@")[0] for row in rows])
            if after is None:
                break
        assert pages == [["ad%", "bob", "adam"], ["ada"]]
        found, _ = queries.page_suppressions(session, workspace, q=" ADA ")
        assert [row.email for row in found] == ["adam@people.example", "ada@people.example"]
        assert len(queries.page_suppressions(session, workspace, q="ad%")[0]) == 1


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("a", ["a_b", "a.b", "a-b", "a'b"]),
        ("A.", ["a.b"]),
        ("a_", ["a_b"]),
        ("a'b@people.example", ["a'b"]),
        ("b~", ["b~"]),
        ("z{", []),
        ("kim@bücher.example", ["kim"]),
        ("kim@büch", []),
        ("kim@xn--b", ["kim"]),
        ("people", []),
        ("a.b@people.example.", []),
        ("\x7f", []),
        ("a\0", []),
        ("\ud800", []),
    ],
)
def test_the_beginning_of_an_address_is_compared_letter_by_letter(
    uow: UnitOfWork, workspace: int, asked: str, found: list[str]
) -> None:
    with uow.begin(workspace) as session:
        for name in ("a'b", "a-b", "a.b", "a_b", "b~", "b"):
            block(session, workspace, f"{name}@people.example")
        block(session, workspace, "kim@bücher.example")
        rows, _ = queries.page_suppressions(session, workspace, q=asked)
    assert [row.email.split("@")[0] for row in rows] == found


def test_a_search_goes_by_pages_newest_first(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin(workspace) as session:
        for number in range(7):
            block(session, workspace, f"{'ab'[number % 2]}{number}@people.example")
        first, after = queries.page_suppressions(session, workspace, q="a", limit=2)
        second, end = queries.page_suppressions(session, workspace, q="a", limit=2, after=after)
    assert [row.email[:2] for row in [*first, *second]] == ["a6", "a4", "a2", "a0"]
    assert end is None


def test_a_search_reads_what_begins_so_alone(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin(workspace) as session:
        rows = [
            {
                "workspace_id": workspace,
                "public_id": f"gone{number}",
                "email": f"p{number}@people.example",
                "reason": MANUAL,
                "source": API,
                "created_at": AT,
            }
            for number in range(3000)
        ]
        session.execute(insert(Suppression), rows)
        if session.get_bind().dialect.name == "postgresql":
            session.execute(text("ANALYZE suppressions"))

    def ask() -> None:
        found, after = queries.page_suppressions(session, workspace, q="p123")
        assert (len(found), after) == (11, None)

    with uow.read(workspace) as session:
        ((way,),) = ways(session, "suppressions", ask)
    assert "email" in way, way
