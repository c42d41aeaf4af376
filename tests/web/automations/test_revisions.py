"""The history of what was in force: list, one revision beside the draft, restore."""

from datetime import timedelta

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.web.automations.editing import desk, fields
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


def test_any_two_are_compared_from_the_list(history: Running) -> None:
    form = fields(
        history.reader.get(f"{history.page}/revisions"), f"{history.page}/revisions/compare"
    )
    assert form == {"from": "2", "to": "3"}
    page = tree(history.reader.get(f"{history.page}/revisions/compare?from=1&to=3"))
    assert texts(page, "#changes-title") == ["Revision 1 → Revision 3"]
    assert texts(page, ".diff li") == [
        "Changed On pause: whoever becomes due leaves at that step"
        " → whoever becomes due waits at that step",
        "Removed Wait 1 day",
        "Added Wait 3 days",
    ]
    back = tree(history.reader.get(f"{history.page}/revisions/compare?from=3&to=1"))
    assert texts(back, ".diff li")[1:] == ["Removed Wait 3 days", "Added Wait 1 day"]
    assert [one(back, f"select[name={name}] option[selected]").get("value") for name in (
        "from", "to",
    )] == ["3", "1"]  # fmt: skip


def test_the_draft_is_compared_with_any_and_the_same_two_say_so(history: Running) -> None:
    address = f"{history.page}/revisions/compare"
    assert "Both say the same." in words(tree(history.reader.get(address)))
    history.save(making.delay("more", 4), on_pause="hold")
    page = tree(history.reader.get(address))
    assert texts(page, "#changes-title") == ["Revision 3 → The draft"]
    assert texts(page, ".diff li") == ["Changed Wait 4 days Step: Wait 3 days → Wait 4 days"
        " How long: 3 → 4"]  # fmt: skip
    page = tree(history.reader.get(f"{address}?from=2&to=2"))
    assert "Both are the same one." in words(page)


def test_what_cannot_be_compared_is_a_page_not_found(history: Running) -> None:
    for query in ("from=9", "to=0", "from=x", "to=1.5", f"to={'9' * 30}", "from=-1", "from=²"):
        answer = history.reader.get(f"{history.page}/revisions/compare?{query}")
        assert answer.status_code == 404, query


def test_a_draft_that_never_was_live_is_compared_with_nothing(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = desk(owner, uow, acme, clock, making.delay("wait"))
    page = tree(owner.get(f"{draft.page}/revisions/compare"))
    assert "Both are the same one." in words(page)


def test_the_pages_ask_a_bounded_number_of_statements(house: House, history: Running) -> None:
    for address, most in (
        ("/revisions", 11),
        ("/revisions/1", 14),
        ("/revisions/compare?from=1&to=2", 14),
    ):
        history.reader.get(history.page)
        with counting(house.runtime.database.engine) as asked:
            assert history.reader.get(f"{history.page}{address}").status_code == 200
        assert asked.count <= most, asked.statements
