"""The statements behind a save: as many for a batch as for one contact."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from engine.audience import service
from engine.audience.inputs import API, MERGE, ContactInput
from tests.factories import audience as make
from tests.factories.accounts import AT

Counting = Callable[[], int]


@pytest.fixture
def count(session: Session) -> Iterator[Counting]:
    """Return a function that answers the number of statements since it was last asked."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    def answer() -> int:
        number = len(statements)
        statements.clear()
        return number

    event.listen(session.get_bind(), "before_cursor_execute", note)
    yield answer
    event.remove(session.get_bind(), "before_cursor_execute", note)


def test_a_batch_costs_no_more_statements_than_one(
    session: Session, workspace: int, count: Counting
) -> None:
    make.custom_property(session, workspace, "plan")
    make.custom_property(session, workspace, "seats", "number")

    def save(prefix: str, size: int, name: str) -> int:
        batch = [
            ContactInput(
                email=f"{prefix}{each}@people.example",
                first_name=name if each % 2 else None,
                last_name=None if each % 3 else "Last",
                properties={"plan": name} if each % 2 else {"seats": each},
            )
            for each in range(size)
        ]
        count()
        answers = service.save_contacts(session, workspace, batch, MERGE, API, AT)
        assert len({make.saved(each).contact.public_id for each in answers}) == size
        return count()

    assert save("many", 300, "A") <= save("one", 2, "A")
    assert save("many", 300, "B") <= save("one", 2, "B")
