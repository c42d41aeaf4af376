"""What a transaction adds up is written once, as its last act, or not at all."""

from sqlalchemy.orm import Session

from engine.core.unit_of_work import UnitOfWork, last_write


class Sum:
    """A last write that only remembers what it was asked to write."""

    def __init__(self, written: list[int]) -> None:
        self._written = written
        self.total = 0

    def write(self, session: Session) -> None:
        """Remember the total; the session has to be open still."""
        assert session.in_transaction()
        self._written.append(self.total)


def add(session: Session, written: list[int], number: int) -> None:
    """Add to the sum of this transaction."""
    last_write(session, "sum", lambda: Sum(written)).total += number


def test_it_is_written_once_before_the_commit(uow: UnitOfWork) -> None:
    written: list[int] = []
    with uow.begin() as session:
        add(session, written, 1)
        add(session, written, 2)
        assert written == []
    assert written == [3]


def test_the_next_transaction_begins_anew(uow: UnitOfWork) -> None:
    written: list[int] = []
    for number in (1, 5):
        with uow.begin() as session:
            add(session, written, number)
    assert written == [1, 5]


def test_a_savepoint_that_ends_writes_nothing_yet(uow: UnitOfWork) -> None:
    written: list[int] = []
    with uow.begin() as session:
        with session.begin_nested():
            add(session, written, 1)
        assert written == []
        add(session, written, 1)
    assert written == [2]


def test_a_rollback_drops_it(uow: UnitOfWork) -> None:
    written: list[int] = []
    with uow.begin() as session:
        add(session, written, 1)
        session.rollback()
    with uow.begin():
        pass
    assert written == []


def test_the_same_name_is_the_same_sum(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        first = last_write(session, "sum", lambda: Sum([]))
        assert last_write(session, "sum", lambda: Sum([])) is first
