"""Automations that hold their people: what the dialogs say, and how a resume is chosen (A11)."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.automations.lifecycle import RESUMED
from engine.automations.models import Automation, AutomationStepRun
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.picking import texts
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


@pytest.mark.parametrize(
    ("days", "told"), [(0, "Nobody is overdue."), (3, "1 of 1 person is overdue.")]
)
def test_the_resume_dialog_says_how_many_are_overdue_and_what_each_choice_does_to_them(
    owner: Reader, clock: FixedClock, held: str, days: int, told: str
) -> None:
    owner.post(f"/automations/{held}/pause")
    clock.advance(timedelta(days=days, hours=2))
    page = tree(owner.get(f"/automations/{held}?ask=resume"))
    assert texts(page, "#ask-resume fieldset p") == [told]
    shift, on, skip = texts(page, "#ask-resume fieldset label")
    moved = "3 days" if days else "2 hours"
    assert shift == f"Shift: every wait moves by {moved}, as if there had been no pause"
    assert on == "Go on now: whoever is overdue goes on at once, at most 60 people a minute"
    assert skip == (
        "Skip: whoever is overdue passes over the wait and every step behind it, up to the next"
        " wait; those mails are never sent"
    )


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("shift", "Waits were shifted by 3 days."),
        ("overdue", "1 overdue person goes on at once."),
        ("skip", "1 overdue person skips to the next wait."),
    ],
)
def test_what_a_pause_and_a_resume_did_is_written_down_and_said(
    owner: Reader, uow: UnitOfWork, clock: FixedClock, held: str, choice: str, said: str
) -> None:
    owner.post(f"/automations/{held}/pause")
    assert texts(tree(owner.get(f"/automations/{held}")), "#said p") == [
        "Automation paused: “Welcome”. Nobody new enters. 1 person is inside."
        " Whoever becomes due is held."
    ]
    clock.advance(timedelta(days=3))
    owner.post(f"/automations/{held}/resume", data={"resume": choice})
    assert texts(tree(owner.get(f"/automations/{held}")), "#said p") == [
        f"Automation resumed: “Welcome”. {said}"
    ]
    with uow.read() as session:
        row = AuditEntry
        query = select(row.details).where(row.action.in_(("automation.paused", RESUMED)))
        paused, resumed = session.scalars(query.order_by(row.id)).all()
    assert (paused["on_pause"], paused["inside"]) == ("hold", 1)
    assert {key: resumed[key] for key in ("resume", "overdue", "inside", "paused_seconds")} == {
        "resume": choice,
        "overdue": 1,
        "inside": 1,
        "paused_seconds": 3 * 24 * 60 * 60,
    }


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
