"""Stop, a draft again, duplicate and delete, and what whoever pressed too late is told."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from engine.automations.models import Automation, AutomationRun
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.web.automations.running import Running
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


@pytest.fixture
def busy(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return a live automation that holds its people, with forty of them inside."""
    raw = making.document(making.delay("wait"), on_pause="hold")
    running = Running(owner, uow, acme, clock, raw)
    running.enter(40)
    return running


def _status(running: Running) -> str | None:
    with running.uow.read() as session:
        row = Automation
        query = select(row.status).where(row.public_id == running.public_id)
        return session.scalar(query.where(row.deleted_at.is_(None)))


def _ends(running: Running) -> set[str | None]:
    with running.uow.read() as session:
        return set(session.scalars(select(AutomationRun.ended_reason)))


def _said(running: Running, page: str = "") -> str:
    return texts(tree(running.reader.get(page or running.page)), "#said p")[0]


def _dialog(running: Running, name: str) -> str:
    page = tree(running.reader.get(f"{running.page}?ask={name}"))
    return words(one(page, f"#ask-{name}"))


def test_pau_05_the_pause_names_forty_people_and_what_becomes_of_them(busy: Running) -> None:
    found = _dialog(busy, "pause")
    assert "40 people are inside." in found
    assert "Nobody leaves: whoever becomes due while it is paused is held at that step" in found
    assert "Pause for 40 people" in found


def test_pau_11_a_pause_holds_people_of_every_revision(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    raw = making.document(making.delay("wait"), on_pause="hold")
    running = Running(owner, uow, acme, clock, raw)
    running.enter(5)
    running.save(making.delay("wait"), making.delay("more"), on_pause="hold")
    assert running.publish().status_code == 303
    running.enter(2)
    assert "Pause for 7 people" in _dialog(running, "pause")
    owner.post(f"{running.page}/pause")
    clock.advance(timedelta(days=3))
    assert running.walker.sweep()["walked"] == 0
    assert running.inside_by_revision() == {1: 5, 2: 2}


def test_a_stop_names_who_leaves_and_wants_a_second_confirmation(busy: Running) -> None:
    found = _dialog(busy, "stop")
    assert "40 people are inside. All of them leave now" in found
    assert "This cannot be undone" in found
    answer = busy.reader.post(f"{busy.page}/stop")
    assert answer.location == f"{busy.page}?ask=stop"
    assert _said(busy) == "Nothing was changed: the box in the dialog was not ticked."
    assert (_status(busy), _ends(busy)) == ("active", {None})


def test_a_stop_ends_everybody_inside_and_says_how_many(busy: Running) -> None:
    assert busy.edit("?ask=stop", "/stop", sure="yes").status_code == 303
    assert _said(busy) == "Stopped: “Welcome”. Nobody new enters. 40 people left it."
    assert (_status(busy), _ends(busy)) == ("paused", {"stopped"})
    # Nobody is left to be stopped.
    assert not pick(tree(busy.reader.get(busy.page)), "#ask-stop")


def test_a_stop_of_a_paused_one_ends_who_was_held(busy: Running) -> None:
    busy.reader.post(f"{busy.page}/pause")
    assert "Keep paused" in _dialog(busy, "stop")
    busy.reader.get(busy.page)
    busy.edit("?ask=stop", "/stop", sure="yes")
    assert _said(busy) == "Stopped: “Welcome”. Nobody new enters. 40 people left it."


def test_it_becomes_a_draft_again_only_once_nobody_is_inside(busy: Running) -> None:
    busy.reader.post(f"{busy.page}/pause")
    page = tree(busy.reader.get(f"{busy.page}?ask=revert"))
    assert "40 people are still inside" in words(one(page, "#ask-revert"))
    assert not pick(page, "#ask-revert button")
    assert busy.reader.post(f"{busy.page}/revert").status_code == 303
    assert _said(busy).startswith("40 people are still inside, so it cannot become a draft again.")
    busy.reader.post(f"{busy.page}/stop", {"sure": "yes"})
    busy.reader.get(busy.page)
    assert "Nobody is inside" in _dialog(busy, "revert")
    busy.reader.post(f"{busy.page}/revert")
    assert _said(busy) == "“Welcome” is a draft again. Nobody enters until it is activated."
    assert _status(busy) == "draft"


def test_a_copy_is_a_draft_that_nobody_is_in(busy: Running) -> None:
    assert "The copy is a draft with the same start, settings and 1 step." in _dialog(
        busy, "duplicate"
    )
    answer = busy.reader.post(f"{busy.page}/duplicate")
    page = tree(busy.reader.get(answer.location))
    assert words(one(page, "h1")) == "Welcome (Copy)"
    assert words(one(page, ".head .sig")) == "Draft"
    assert texts(page, ".figures dd") == ["0", "0", "0", "0"]


def test_what_is_active_is_not_deleted(busy: Running) -> None:
    page = tree(busy.reader.get(f"{busy.page}?ask=delete"))
    assert "what is active cannot be deleted" in words(one(page, "#ask-delete"))
    assert not pick(page, "#ask-delete button")
    busy.reader.post(f"{busy.page}/delete", {"sure": "yes"})
    assert _said(busy) == "Cannot delete active automations. Please pause first."
    assert _status(busy) == "active"


def test_deleting_names_who_leaves_and_keeps_the_runs(busy: Running) -> None:
    busy.reader.post(f"{busy.page}/pause")
    found = _dialog(busy, "delete")
    assert "40 people are inside. All of them leave now" in found
    assert "40 people have entered so far" in found
    assert busy.reader.post(f"{busy.page}/delete").location == f"{busy.page}?ask=delete"
    assert _status(busy) == "paused"
    busy.reader.get(busy.page)
    answer = busy.edit("?ask=delete", "/delete", sure="yes")
    assert answer.location == "/automations"
    assert _said(busy, "/automations") == "Deleted: “Welcome”. 40 people left it."
    assert _status(busy) is None
    assert busy.reader.get(busy.page).status_code == 404
    assert busy.reader.get(f"/runs?automation={busy.public_id}").status_code == 200


def test_whoever_presses_too_late_is_told_who_was_faster_and_when(
    app: Flask, acme: Town, busy: Running
) -> None:
    admin = Reader(app)
    admin.sign_in(acme.people["admin"])
    admin.post(f"{busy.page}/pause")
    busy.reader.post(f"{busy.page}/pause")
    assert _said(busy) == (
        "“Welcome” was paused already; nothing was changed."
        f" {acme.people['admin']} paused it (Mon 2 Mar, 09:00 UTC)."
    )


def test_an_editor_may_copy_and_delete_but_neither_stop_nor_revert(
    app: Flask, acme: Town, busy: Running
) -> None:
    busy.reader.post(f"{busy.page}/pause")
    editor = Reader(app)
    editor.sign_in(acme.people["editor"])
    page = tree(editor.get(busy.page))
    offered = [each.get("id") for each in pick(page, "#dialogs dialog")]
    assert offered == ["ask-duplicate", "ask-delete"]
    for act in ("stop", "revert"):
        assert editor.post(f"{busy.page}/{act}", {"sure": "yes"}).status_code == 403
