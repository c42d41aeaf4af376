"""The history of what was in force: list, one revision beside the draft, restore."""

from datetime import timedelta

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.web.automations.editing import desk
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


@pytest.fixture
def history(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return an automation with three revisions; the draft is like the third, in force."""
    raw = making.document(making.delay("wait"))
    running = Running(owner, uow, acme, clock, raw)
    for steps, more in (
        ((making.delay("wait", 2), making.delay("more", 3)), {}),
        ((making.delay("more", 3),), {"on_pause": "hold"}),
    ):
        clock.advance(timedelta(days=1))
        running.save(*steps, **more)
        assert running.publish().status_code == 303
    return running


def test_the_list_says_of_each_what_changed_who_froze_it_and_when(
    acme: Town, history: Running
) -> None:
    page = tree(history.reader.get(f"{history.page}/revisions"))
    rows = [words(row) for row in pick(page, "tbody tr")]
    owner = acme.people["owner"]
    assert rows[0] == f"Revision 3 in force 1 removed · settings 1 {owner} Wed 4 Mar, 09:00 UTC"
    assert rows[1] == f"Revision 2 1 step added · 1 changed 2 {owner} Tue 3 Mar, 09:00 UTC"
    assert rows[2].startswith("Revision 1 the first one 1 ")


def test_a_revision_is_shown_with_its_plan_and_against_the_draft(history: Running) -> None:
    page = tree(history.reader.get(f"{history.page}/revisions/2"))
    assert texts(page, ".plan h3") == [
        "The event “go” arrives",
        "Wait 2 days",
        "Wait 3 days",
        "End",
    ]
    assert texts(page, ".diff li") == [
        "Changed On pause: whoever becomes due waits at that step"
        " → whoever becomes due leaves at that step",
        "Added Wait 2 days",
    ]
    same = tree(history.reader.get(f"{history.page}/revisions/3"))
    assert "The draft says the same." in words(same)
    assert not pick(same, f"form[action={history.page}/revisions/3/restore]")


def test_a_restore_makes_it_the_draft_and_leaves_what_runs(history: Running) -> None:
    answer = history.edit("/revisions/1", "/revisions/1/restore")
    assert (answer.status_code, answer.location) == (303, history.page)
    said = texts(tree(history.reader.get(history.page)), "#said p")
    assert said == ["The draft says what revision 1 said. Nothing changes for people yet."]
    assert history.order() == ["wait"]
    assert "Revision 3, live since" in history.reader.get(history.page).text
    undo = one(tree(history.reader.get(history.page)), "[data-keys=undo]")
    assert undo.get("title") == "Undo: restoring a revision"


def test_a_restore_over_a_newer_draft_is_refused_and_shows_the_newer_difference(
    history: Running,
) -> None:
    form = history.form("/revisions/1", "/revisions/1/restore")
    history.save(making.delay("wait", 7))
    answer = history.send("/revisions/1/restore", form)
    assert answer.status_code == 409
    page = tree(answer)
    assert "The draft was changed in the meantime" in words(one(page, "[role=alert]"))
    assert "Wait 7 days → Wait 1 day" in words(page)
    assert history.step("wait")["config"]["duration"] == 7


def test_a_revision_that_there_is_not_is_a_page_not_found(history: Running) -> None:
    for number in ("0", "4", "9" * 15):
        assert history.reader.get(f"{history.page}/revisions/{number}").status_code == 404
    form = {"version": str(history.version())}
    assert history.send("/revisions/4/restore", form).status_code == 404


def test_a_draft_that_never_was_live_has_none_yet(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = desk(owner, uow, acme, clock, making.delay("wait"))
    page = tree(owner.get(f"{draft.page}/revisions"))
    assert "There is none yet" in words(page)


def test_who_may_only_look_sees_revisions_and_no_button(
    app: Flask, acme: Town, history: Running
) -> None:
    support = Reader(app)
    support.sign_in(acme.people["support"])
    assert "Revisions" in texts(tree(support.get(history.page)), ".more a")
    page = tree(support.get(f"{history.page}/revisions/1"))
    assert texts(page, ".diff li")
    assert not pick(page, f"form[action={history.page}/revisions/1/restore]")
    assert support.post(f"{history.page}/revisions/1/restore", {"version": "1"}).status_code == 403


def test_the_pages_ask_a_bounded_number_of_statements(house: House, history: Running) -> None:
    for address, most in (("/revisions", 10), ("/revisions/1", 14)):
        history.reader.get(history.page)
        with counting(house.runtime.database.engine) as asked:
            assert history.reader.get(f"{history.page}{address}").status_code == 200
        assert asked.count <= most, asked.statements
