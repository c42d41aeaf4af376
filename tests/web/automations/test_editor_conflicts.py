"""Edits that come too late: a newer draft, a step that somebody deleted. Nothing typed is lost."""

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.web.automations.editing import Desk, desk, fields
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree

WORK = {**HTMX, "HX-Target": "work"}


@pytest.fixture
def mine(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Desk:
    """Return a draft of two waits."""
    return desk(owner, uow, acme, clock, making.delay("first", 3), making.delay("last", 4))


@pytest.fixture
def theirs(app: Flask, mine: Desk) -> Desk:
    """Return the same draft at the desk of somebody else."""
    reader = Reader(app)
    reader.sign_in(mine.town.people["editor"])
    return Desk(reader, mine.uow, mine.town, mine.public_id)


def test_a_stale_edit_shows_who_was_faster_and_both_versions(mine: Desk, theirs: Desk) -> None:
    typed = {**mine.form("?step=first", "/steps/first"), "duration": "5"}
    theirs.edit("?step=first", "/steps/first", duration="9")
    answer = mine.send("/steps/first", typed)
    assert answer.status_code == 409
    page = tree(answer)
    assert words(one(page, "#rail-title")) == "Somebody else changed this draft"
    who = mine.town.people["editor"]
    assert f"{who} changed it Mon 2 Mar, 09:00 UTC" in words(one(page, "#rail"))
    assert "How long: 9 → 5" in words(one(page, "#rail .lines"))
    assert mine.step("first")["config"]["duration"] == 9


def test_mine_can_be_put_over_theirs(mine: Desk, theirs: Desk) -> None:
    typed = {**mine.form("?step=first", "/steps/first"), "duration": "5"}
    theirs.edit("?step=last", "/steps/last", duration="9")
    answer = mine.send("/steps/first", typed)
    again = fields(answer, f"{mine.page}/steps/first")
    assert mine.send("/steps/first", again).status_code == 303
    assert [step["config"]["duration"] for step in mine.document()["steps"]] == [5, 9]


def test_theirs_can_be_taken(mine: Desk, theirs: Desk) -> None:
    typed = {**mine.form("?step=first", "/steps/first"), "duration": "5"}
    theirs.edit("?step=first", "/steps/first", duration="9")
    page = tree(mine.send("/steps/first", typed))
    [link] = [a for a in pick(page, "#rail a") if words(a) == "Take theirs"]
    assert one(tree(mine.reader.get(str(link.get("href")))), "#duration").get("value") == "9"


def test_a_conflict_is_swapped_into_the_rail(mine: Desk, theirs: Desk) -> None:
    typed = {**mine.form("?step=first", "/steps/first"), "duration": "5"}
    theirs.edit("?step=first", "/steps/first", duration="9")
    answer = mine.send("/steps/first", typed, **WORK)
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (409, "#rail")
    assert not pick(tree(answer), ".plan")


@pytest.mark.parametrize("walk", ["undo", "redo"])
def test_nobody_undoes_what_they_have_not_seen(mine: Desk, theirs: Desk, walk: str) -> None:
    theirs.edit("?step=first", "/steps/first", duration="9")
    mine.edit("", "/undo")
    seen = {"version": str(mine.version())}
    theirs.edit("?step=last", "/steps/last", duration="9")
    before = mine.document()
    assert mine.send(f"/{walk}", seen).status_code == 409
    assert mine.document() == before


def test_a_move_of_a_stale_plan_says_what_it_would_change(mine: Desk, theirs: Desk) -> None:
    seen = {"version": str(mine.version()), "to": "up"}
    theirs.edit("?step=first", "/steps/first", duration="9")
    answer = mine.send("/steps/last/move", seen)
    assert answer.status_code == 409
    assert texts(tree(answer), "#rail .sig") == ["Moved"]


def test_a_form_of_a_step_that_is_gone_says_who_deleted_it_and_keeps_what_was_typed(
    mine: Desk, theirs: Desk
) -> None:
    typed = {**mine.form("?step=first", "/steps/first"), "duration": "5"}
    theirs.edit("?step=first", "/steps/first/delete")
    for headers in ({}, WORK):
        answer = mine.send("/steps/first", typed, **headers)
        page = tree(answer)
        assert answer.status_code == 404
        assert words(one(page, "#rail-title")) == "This step is no longer in the draft"
        assert f"{mine.town.people['editor']} deleted it on" in words(one(page, "#rail"))
        assert one(page, "fieldset[disabled] #duration").get("value") == "5"
    again = fields(mine.send("/steps/first", typed), f"{mine.page}/steps")
    mine.send("/steps", again)
    assert mine.order() == ["last", "delay-1"]
    assert mine.step("delay-1")["config"] == {"duration": 5, "unit": "days"}


def test_deleting_what_is_gone_already_says_so(mine: Desk, theirs: Desk) -> None:
    seen = mine.form("?step=first", "/steps/first/delete")
    theirs.edit("?step=first", "/steps/first/delete")
    for action in ("delete", "duplicate", "move", "move-to"):
        answer = mine.send(f"/steps/first/{action}", {**seen, "to": "up", "place": "_start."})
        assert answer.status_code == 404, action
        assert "This step is no longer in the draft" in answer.text
    assert mine.order() == ["last"]


def test_a_link_to_a_step_that_is_gone_shows_the_plan(mine: Desk) -> None:
    answer = mine.reader.get(f"{mine.page}?step=never")
    assert answer.status_code == 200
    assert pick(tree(answer), ".plan")


def test_a_rail_asked_for_a_step_that_is_gone_shows_the_work_anew(mine: Desk) -> None:
    answer = mine.reader.get(f"{mine.page}?step=never", {**HTMX, "HX-Target": "rail"})
    assert answer.headers["HX-Retarget"] == "#work"
    assert pick(tree(answer), "#work .plan")
