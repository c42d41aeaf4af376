"""An open page follows: 204 while nothing changed, numbers by id, and who switched what."""

from datetime import timedelta

import pytest
from flask import Flask
from lxml import html

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree


@pytest.fixture
def open_page(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return a live automation with two waits and three people inside."""
    raw = making.document(making.delay("wait"), making.delay("more"), on_pause="hold")
    running = Running(owner, uow, acme, clock, raw)
    running.enter(3)
    return running


def _seen(running: Running) -> str:
    return str(one(tree(running.reader.get(running.page)), "#live-seen").get("value"))


def _look(running: Running, seen: str) -> str:
    answer = running.reader.get(f"{running.page}/live?seen={seen}", HTMX)
    assert answer.status_code == 200
    return answer.text


def tree_of(text: str) -> html.HtmlElement:
    return html.document_fromstring(f"<body>{text}</body>")


def _numbers(text: str) -> dict[str, str]:
    page = tree_of(text)
    return {str(each.get("data-for")): str(each.get("value")) for each in pick(page, "data")}


def test_nothing_changed_is_204_in_few_statements(house: House, open_page: Running) -> None:
    seen = _seen(open_page)
    with counting(house.runtime.database.engine) as asked:
        answer = open_page.reader.get(f"{open_page.page}/live?seen={seen}", HTMX)
    assert (answer.status_code, answer.text) == (204, "")
    assert asked.count <= 6, asked.statements


def test_people_who_move_on_are_told_by_numbers_alone(house: House, open_page: Running) -> None:
    seen = _seen(open_page)
    open_page.clock.advance(timedelta(days=1))
    open_page.walker.sweep()
    # Once a while the browser is noted as seen; that is no part of a look.
    open_page.reader.get(open_page.page)
    with counting(house.runtime.database.engine) as asked:
        text = _look(open_page, seen)
    assert asked.count <= 6, asked.statements
    numbers = _numbers(text)
    assert (numbers["in-wait"], numbers["in-more"], numbers["all-inside"]) == ("0", "3", "3")
    assert 'id="switches"' not in text
    assert "#said" not in text
    # Every number has its place on the page.
    page = tree(open_page.reader.get(open_page.page))
    shown = {name: words(one(page, f"#{name}")) for name in numbers}
    assert shown == numbers


def test_who_enters_is_in_the_dialogs_too(open_page: Running) -> None:
    seen = _seen(open_page)
    open_page.enter(2)
    text = _look(open_page, seen)
    assert _numbers(text)["in-_start"] == "5"
    assert "Pause for 5 people" in text
    assert "#said" not in text


def test_a_pause_elsewhere_is_shown_with_who_did_it(
    app: Flask, acme: Town, open_page: Running
) -> None:
    seen = _seen(open_page)
    admin = Reader(app)
    admin.sign_in(acme.people["admin"])
    admin.post(f"{open_page.page}/pause")
    page = tree_of(_look(open_page, seen))
    assert words(one(page, "#signal")) == "Paused"
    assert words(one(page, "#sentence")).startswith("Revision 1, paused since")
    assert "Resume…" in texts(page, "#switches a")
    assert pick(page, "#ask-resume")
    (said,) = texts(page, "[hx-swap-oob=innerHTML:#said] p")
    assert said.startswith(f"{acme.people['admin']} paused it (Mon 2 Mar, 09:00 UTC).")
    again = str(one(page, "#live-seen").get("value"))
    assert open_page.reader.get(f"{open_page.page}/live?seen={again}", HTMX).status_code == 204


def test_an_edit_elsewhere_is_said_and_one_of_ones_own_is_not(open_page: Running) -> None:
    seen = _seen(open_page)
    open_page.save(making.delay("wait", 9), making.delay("more"), on_pause="hold")
    assert "The draft was changed in another window." in _look(open_page, seen)
    # The work that an edit sends back bears the new marks.
    answer = open_page.edit("?step=wait", "/steps/wait", duration="8")
    assert answer.status_code == 303
    own = open_page.reader.get(open_page.page, HTMX)
    marks = str(one(tree(own), "#live-seen").get("value"))
    assert open_page.reader.get(f"{open_page.page}/live?seen={marks}", HTMX).status_code == 204


@pytest.mark.parametrize("seen", ["", "...", "a.b.c.d", "x" * 500, "1.2"])
def test_marks_that_nobody_gave_out_get_everything(open_page: Running, seen: str) -> None:
    assert "Pause for 3 people" in _look(open_page, seen)


def test_without_script_the_address_leads_to_the_page(open_page: Running) -> None:
    answer = open_page.reader.get(f"{open_page.page}/live")
    assert (answer.status_code, answer.location) == (303, open_page.page)


def test_what_was_deleted_is_followed_no_longer(open_page: Running) -> None:
    seen = _seen(open_page)
    open_page.reader.post(f"{open_page.page}/pause")
    open_page.reader.post(f"{open_page.page}/delete", {"sure": "yes"})
    gone = open_page.reader.get(f"{open_page.page}/live?seen={seen}", HTMX)
    assert gone.status_code == 404
