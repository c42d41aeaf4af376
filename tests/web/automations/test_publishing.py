"""The publish page: what changes, whom it meets, and what becomes of them (checks 14 to 17)."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import Engine

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.web.automations.editing import desk
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

DAY = timedelta(days=1)


@pytest.fixture
def waits(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return a live automation: wait five days, then one day more."""
    raw = making.document(making.delay("wait", 5), making.delay("more"))
    return Running(owner, uow, acme, clock, raw)


def _page(running: Running) -> str:
    return words(one(tree(running.reader.get(f"{running.page}/publish")), "main"))


def _said(running: Running) -> str:
    return texts(tree(running.reader.get(running.page)), "#said p")[0]


def test_the_automation_offers_to_publish_only_where_the_draft_differs(waits: Running) -> None:
    assert "Publish…" not in waits.reader.get(waits.page).text
    waits.save(making.delay("wait", 4))
    link = one(tree(waits.reader.get(waits.page)), f"a[href={waits.page}/publish]")
    assert words(link) == "Publish…"


def test_edt_06_a_shorter_wait_names_whom_it_lets_go_on_and_staying_moves_none(
    waits: Running,
) -> None:
    waits.enter(30)
    waits.clock.advance(2 * DAY)
    waits.save(making.delay("wait", 1), making.delay("more"))
    page = tree(waits.reader.get(f"{waits.page}/publish"))
    assert texts(page, ".diff li")[0] == (
        "Changed Wait 1 day Step: Wait 5 days → Wait 1 day How long: 5 → 1"
    )
    assert "The wait gets shorter: moved, 30 people go on within minutes." in words(page)
    stay, move = texts(page, ".choice")
    assert stay == "Stay: all 30 people finish the revision they are on"
    assert move == (
        "Move: 30 people go on in revision 2, at the step where they stand; 30 go on within minutes"
    )
    assert waits.publish().status_code == 303
    assert _said(waits) == (
        "Published: “Welcome”, revision 2. 30 people finish the revision they are on."
    )
    assert waits.inside_by_revision() == {1: 30}
    assert waits.walker.sweep()["walked"] == 0


def test_edt_03_a_step_added_at_the_end_names_the_finished_who_get_nothing(
    waits: Running,
) -> None:
    waits.enter(3)
    waits.clock.advance(7 * DAY)
    waits.walker.sweep()
    waits.clock.advance(2 * DAY)
    waits.walker.sweep()
    waits.save(making.delay("wait", 5), making.delay("more"), making.delay("last"))
    assert "3 people have finished already and get nothing of what is new." in _page(waits)
    assert waits.publish().status_code == 303
    assert waits.inside_by_revision() == {}
    assert waits.walker.sweep()["walked"] == 0


def test_edt_15_a_deleted_wait_names_its_people_who_stay_and_nothing_bursts(
    waits: Running,
) -> None:
    waits.enter(50)
    waits.save(making.delay("more"))
    page = _page(waits)
    assert "50 · Wait 5 days The draft no longer has this step: these people stay" in page
    assert "Nobody can move" in page
    assert waits.publish(people_inside="move").status_code == 303
    assert waits.inside_by_revision() == {1: 50}
    assert waits.walker.sweep()["walked"] == 0


def test_edt_18_people_at_the_sixth_of_six_go_on_to_the_seventh_of_twelve_when_moved(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    steps = [making.delay(f"step-{number}") for number in range(1, 13)]
    running = Running(owner, uow, acme, clock, making.document(*steps[:6]))
    running.enter(10)
    for _step in range(5):
        clock.advance(DAY)
        running.walker.sweep()
    running.save(*steps)
    assert "Move: 10 people go on in revision 2" in _page(running)
    assert running.publish(people_inside="move").status_code == 303
    assert _said(running) == "Published: “Welcome”, revision 2. 10 people go on in it."
    assert running.inside_by_revision() == {2: 10}
    clock.advance(DAY)
    running.walker.sweep()
    plan = tree(owner.get(running.page))
    assert words(one(plan, "#at-step-7 .in")) == "10 waiting"


def test_what_would_fail_for_certain_stands_there_with_links_and_there_is_no_button(
    waits: Running,
) -> None:
    waits.save(making.delay("wait", 5), making.email("mail", None))
    page = tree(waits.reader.get(f"{waits.page}/publish"))
    assert (
        next(a.get("href") for a in pick(page, ".note.stop a")) == f"{waits.page}?step=mail#at-mail"
    )
    assert not pick(page, f"form[action={waits.page}/publish]")
    posted = {"version": str(waits.version()), "people_inside": "stay"}
    answer = waits.reader.post(f"{waits.page}/publish", posted)
    assert answer.status_code == 409
    assert "It cannot go live: some steps would fail for certain." in answer.text


def test_a_draft_that_changed_since_the_page_was_read_is_shown_anew_and_not_published(
    waits: Running,
) -> None:
    waits.enter(1)
    waits.save(making.delay("wait", 4))
    seen = str(waits.version())
    waits.save(making.delay("wait", 3))
    answer = waits.reader.post(f"{waits.page}/publish", {"version": seen})
    assert answer.status_code == 409
    page = tree(answer)
    assert "The draft was changed in the meantime" in words(one(page, "[role=alert]"))
    assert "Wait 5 days → Wait 3 days" in words(page)
    assert waits.inside_by_revision() == {1: 1}
    assert waits.publish().status_code == 303


def test_a_draft_that_says_what_is_in_force_has_nothing_to_publish(waits: Running) -> None:
    assert "There is nothing to publish." in _page(waits)
    posted = {"version": str(waits.version())}
    assert waits.reader.post(f"{waits.page}/publish", posted).status_code == 303
    assert _said(waits) == "“Welcome” says so already; nothing was published."


def test_another_start_is_named_as_a_new_activation(waits: Running) -> None:
    trigger = {"type": "event_received", "config": {"event_name": "come"}}
    waits.save(making.delay("wait", 5), making.delay("more"), trigger=trigger)
    page = _page(waits)
    assert "Starts when: The event “go” arrives → The event “come” arrives" in page
    assert "this is a new activation" in page


def test_a_draft_that_never_was_live_is_activated_and_not_published(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = desk(owner, uow, acme, clock, making.delay("wait"))
    answer = owner.get(f"{draft.page}/publish")
    assert (answer.status_code, answer.location) == (303, draft.page)
    assert owner.post(f"{draft.page}/publish", {"version": "1"}).status_code == 303
    said = texts(tree(owner.get(draft.page)), "#said p")
    assert said == ["Automation is not in a state that allows this transition"]


def test_who_may_not_publish_sees_the_difference_and_no_button(
    app: Flask, acme: Town, waits: Running
) -> None:
    waits.save(making.delay("wait", 4))
    editor = Reader(app)
    editor.sign_in(acme.people["editor"])
    page = tree(editor.get(f"{waits.page}/publish"))
    assert "Wait 5 days → Wait 4 days" in words(page)
    assert not pick(page, f"form[action={waits.page}/publish]")
    assert editor.post(f"{waits.page}/publish", {"version": "2"}).status_code == 403


def test_the_page_asks_a_bounded_number_of_statements(house: House, waits: Running) -> None:
    waits.enter(3)
    waits.save(*[making.delay(f"step-{number}") for number in range(60)])
    engine: Engine = house.runtime.database.engine
    waits.reader.get(f"{waits.page}/publish")
    with counting(engine) as asked:
        assert waits.reader.get(f"{waits.page}/publish").status_code == 200
    assert asked.count <= 20, asked.statements
