"""What the editor costs: statements that do not grow with the plan, and small swaps."""

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.web.automations.editing import SWAP, Desk, desk
from tests.web.counting import counting
from tests.web.support import HTMX, Reader, Town

PAGE = 19
RAIL = 8
SWAPPED = 30_000


@pytest.fixture
def template(uow: UnitOfWork, acme: Town) -> str:
    """Return a template of a workspace that has a sender, topics and properties too."""
    with uow.begin() as session:
        mails.sender(session, acme.workspace_id)
        people.topic(session, acme.workspace_id)
        people.custom_property(session, acme.workspace_id, "plan")
        return mails.template(session, acme.workspace_id).public_id


def _steps(template: str, size: int) -> list[dict[str, object]]:
    """Return a plan of mails, waits and branches that lead far ahead."""
    steps: list[dict[str, object]] = []
    for number in range(0, size - size % 3, 3):
        steps += [
            making.email(f"mail{number}", template),
            making.delay(f"wait{number}", 2),
            making.branch(f"fork{number}", yes="end"),
        ]
    return steps


def _asked(house: House, work: Desk, query: str, headers: dict[str, str]) -> tuple[int, int]:
    """Return how many statements an answer took and how long it is."""
    work.reader.get(work.page)
    with counting(house.runtime.database.engine) as asked:
        answer = work.reader.get(f"{work.page}{query}", headers)
    assert answer.status_code == 200
    return asked.count, len(answer.data)


@pytest.mark.parametrize("query", ["", "?step=mail0", "?step=fork0", "?step=_start", "?add=wait0."])
def test_the_editor_asks_as_much_for_60_steps_as_for_6(
    house: House, owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock,
    template: str, query: str,
) -> None:  # fmt: skip
    counts = []
    for size in (6, 60):
        work = desk(owner, uow, acme, clock, *_steps(template, size))
        counts.append(_asked(house, work, query, {})[0])
    assert counts[0] == counts[1] <= PAGE


@pytest.mark.parametrize(
    "query", ["?step=mail0", "?step=wait0", "?step=fork0", "?step=_start", "?step=_settings",
              "?add=wait0."],
)  # fmt: skip
def test_the_rail_of_60_steps_is_swapped_by_few_statements_and_few_bytes(
    house: House, owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock,
    template: str, query: str,
) -> None:  # fmt: skip
    work = desk(owner, uow, acme, clock, *_steps(template, 60))
    count, length = _asked(house, work, query, SWAP)
    assert count <= RAIL
    assert length <= SWAPPED


def test_counting_who_matches_takes_few_statements(
    house: House, owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock, template: str
) -> None:
    work = desk(owner, uow, acme, clock, *_steps(template, 6))
    rule = (
        "?condition=contact_property&contact_property-field=plan&contact_property-operator=is_empty"
    )
    assert _asked(house, work, f"/matches{rule}", HTMX)[0] <= RAIL + 4


def test_a_saved_form_of_60_steps_is_answered_with_few_bytes_on_the_wire(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock, template: str
) -> None:
    work = desk(owner, uow, acme, clock, *_steps(template, 60))
    form = work.form("?step=wait0", "/steps/wait0")
    sent = {**form, "config-duration": "5"} if "config-duration" in form else {**form}
    answer = work.send("/steps/wait0", sent, **{"HX-Request": "true", "Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert len(answer.data) <= SWAPPED
