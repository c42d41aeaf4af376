"""Automations that hold their people: what the dialogs say, and how a resume is chosen (A11)."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.automations.models import Automation, AutomationStepRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.support import Reader, Town, tree


@pytest.fixture
def held(uow: UnitOfWork, acme: Town, clock: FixedClock) -> str:
    """Return a live automation that holds its people, with one person in a wait of a day."""
    with uow.begin() as session:
        raw = making.document(making.delay("wait"), making.end("done"), on_pause="hold")
        row = making.live(session, acme.workspace_id, raw, clock.now())
        persons = [people.contact(session, acme.workspace_id)]
        making.fire(session, acme.workspace_id, persons, clock.now())
        return row.public_id


def test_the_pause_dialog_of_one_that_holds_says_that_nobody_leaves(
    owner: Reader, held: str
) -> None:
    page = tree(owner.get(f"/automations/{held}?ask=pause"))
    (note,) = page.xpath("//dialog[@id='ask-pause']//p[contains(@class, 'hold')]")
    assert note.text_content().startswith("Nobody leaves")


@pytest.mark.parametrize(
    ("choice", "due_in_days"), [({}, 1), ({"resume": "shift"}, 1), ({"resume": "overdue"}, 0)]
)
def test_resuming_asks_how_held_people_go_on(
    owner: Reader,
    uow: UnitOfWork,
    clock: FixedClock,
    held: str,
    choice: dict[str, str],
    due_in_days: int,
) -> None:
    owner.post(f"/automations/{held}/pause")
    clock.advance(timedelta(days=3))
    offered = tree(owner.get(f"/automations/{held}?ask=resume"))
    assert offered.xpath("//input[@name='resume']/@value") == ["shift", "overdue", "skip"]
    assert owner.post(f"/automations/{held}/resume", data=choice).status_code == 303
    with uow.read() as session:
        due = session.scalars(select(AutomationStepRun.due_at)).one()
    assert due == clock.now() + timedelta(days=due_in_days)


def test_a_choice_nobody_offers_is_refused_and_changes_nothing(
    owner: Reader, uow: UnitOfWork, held: str
) -> None:
    owner.post(f"/automations/{held}/pause")
    assert owner.post(f"/automations/{held}/resume", data={"resume": "all"}).status_code == 400
    with uow.read() as session:
        assert session.scalars(select(Automation.status)).all() == ["paused"]


def test_starting_afresh_is_a_new_activation(owner: Reader, uow: UnitOfWork, held: str) -> None:
    owner.post(f"/automations/{held}/pause")
    owner.post(f"/automations/{held}/resume", data={"resume": "shift", "start_afresh": "on"})
    with uow.read() as session:
        assert session.scalars(select(Automation.version)).all() == [2]


def test_the_page_says_what_a_pause_does(owner: Reader, held: str) -> None:
    said = tree(owner.get(f"/automations/{held}")).xpath(
        "//dt[.='On pause']/following::dd[1]/text()"
    )
    assert said == ["whoever becomes due waits at that step"]
