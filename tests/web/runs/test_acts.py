"""What a person does to one run from its page: dialogs, acts, who may (checks 36 to 38b)."""

import pytest
from flask import Flask
from sqlalchemy import select

from engine.automations import queries
from engine.automations.queries import RunDetail
from engine.core.audit import AuditEntry
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories.books import assert_books
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

FAILED = "step_failed"
WAITING = "at wait"


def found(uow: UnitOfWork, scene: Scene, name: str) -> RunDetail:
    with uow.read() as session:
        assert_books(session)
        run = queries.get_run(session, scene.workspace_id, scene.runs[name])
    assert run is not None
    return run


def press(reader: Reader, scene: Scene, name: str, act: str, **given: str) -> str:
    """Press the button of a dialog; return what the page says then."""
    address = f"/runs/{scene.runs[name]}"
    answer = reader.post(f"{address}/{act}", given)
    assert answer.status_code == 303, answer.text
    return words(one(tree(reader.get(address)), "#said"))


def test_a_failed_run_offers_what_helps_and_each_dialog_says_what_it_does(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get(f"/runs/{scene.runs[FAILED]}"))
    assert texts(page, ".acts a")[:4] == ["Try again", "Skip this step", "Move", "Nothing to do"]
    dialogs = {dialog.get("id"): words(dialog) for dialog in pick(page, "dialog")}
    assert set(dialogs) == {"ask-retry", "ask-skip", "ask-move", "ask-dismiss"}
    assert "the step is tried at once, with revision 1" in dialogs["ask-retry"]
    assert "This step never happens for Nobody. Next: Wait 3 days" in dialogs["ask-skip"]
    assert "A wait begins from its start" in dialogs["ask-move"]
    assert len(pick(page, "#move-step option")) == 6


def test_a_waiting_run_offers_no_second_try(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs[WAITING]}"))
    assert {each.get("id") for each in pick(page, "dialog")} == {
        "ask-skip", "ask-move", "ask-cancel",
    }  # fmt: skip
    assert not pick(tree(owner.get(f"/runs/{scene.runs['finished']}")), "dialog")


def test_without_script_the_dialog_stands_in_the_page(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs[WAITING]}?ask=cancel"))
    assert [dialog.get("id") for dialog in pick(page, "dialog[open]")] == ["ask-cancel"]


def test_a_retry_takes_the_run_up_again_and_the_log_tells_who_and_why(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    said = press(owner, scene, FAILED, "retry", reason="Address was added")
    assert said == "The run goes on. Tried again: Mail “Welcome aboard” Dismiss"
    run = found(uow, scene, FAILED)
    assert (run.run.status, run.attention_at) == ("running", None)
    log = " ".join(texts(tree(owner.get(f"/runs/{scene.runs[FAILED]}")), ".log .said"))
    assert "had the step tried again Address was added" in log
    with uow.read() as session:
        line = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert line is not None
    assert (line.action, line.details) == (
        "run.retried",
        {"from": "hello", "to": "hello", "reason": "Address was added"},
    )


@pytest.mark.parametrize(
    ("name", "act", "given", "action"),
    [
        (FAILED, "retry", {}, "run.retried"),
        (WAITING, "skip-step", {}, "run.skipped"),
        (WAITING, "move", {"step": "last"}, "run.moved"),
        (WAITING, "cancel", {}, "run.cancelled"),
        (FAILED, "dismiss", {}, "run.dismissed"),
    ],
)
def test_each_act_is_written_down_with_who_and_why(
    owner: Reader,
    acme: Town,
    scene: Scene,
    uow: UnitOfWork,
    name: str,
    act: str,
    given: dict[str, str],
    action: str,
) -> None:
    press(owner, scene, name, act, reason="Asked by phone", **given)
    with uow.read() as session:
        line = session.scalars(select(AuditEntry).where(AuditEntry.action == action)).one()
    assert line.actor == f"user:{acme.ids['owner']}"
    assert line.resource_id == scene.runs[name]
    assert line.details["reason"] == "Asked by phone"
    first = texts(tree(owner.get(f"/audit?action={action}")), "tbody tr")[0]
    assert acme.people["owner"] in first
    assert "Asked by phone" in first


def test_a_skip_and_a_move_stand_in_the_log_and_on_the_plan(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    assert "The person now stands at: Wait 3 days" in press(owner, scene, FAILED, "skip-step")
    assert found(uow, scene, FAILED).run.step_key == "wait"
    assert press(owner, scene, FAILED, "move", step="last").startswith(
        "The person was moved. Now at: Mail “Your trial ends Friday”"
    )
    page = tree(owner.get(f"/runs/{scene.runs[FAILED]}"))
    log = texts(page, ".log .said")
    assert any(line.startswith("Wait 3 days: left for another step") for line in log)
    assert any("moved the person to: Mail “Your trial ends Friday”" in line for line in log)


def test_an_end_and_a_dismissal(owner: Reader, scene: Scene, uow: UnitOfWork) -> None:
    assert press(owner, scene, WAITING, "cancel") == "The run has been ended. Dismiss"
    run = found(uow, scene, WAITING)
    assert (run.run.status, run.run.ended_reason) == ("cancelled", "ended_by_person")
    assert "no longer asks" in press(owner, scene, FAILED, "dismiss")
    assert found(uow, scene, FAILED).attention_at is None
    assert "does not ask" in press(owner, scene, FAILED, "dismiss")


def test_a_refused_act_says_why_and_changes_nothing(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    before = found(uow, scene, "finished")
    assert press(owner, scene, "finished", "retry") == "This run has ended already. Dismiss"
    assert "no such step" in press(owner, scene, WAITING, "move", step="gone")
    assert found(uow, scene, "finished") == before


def test_an_unknown_or_foreign_run_is_not_found(
    owner: Reader, scene: Scene, app: Flask, other: Town
) -> None:
    assert owner.post("/runs/nowhere/retry").status_code == 404
    stranger = Reader(app)
    stranger.sign_in(other.people["owner"])
    answer = stranger.post(f"/runs/{scene.runs[WAITING]}/cancel")
    assert answer.status_code == 404


@pytest.mark.parametrize(("role", "status"), [("support", 303), ("editor", 403)])
def test_who_helps_people_may_act_and_who_edits_may_not(
    app: Flask, scene: Scene, acme: Town, role: str, status: int
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    page = tree(reader.get(f"/runs/{scene.runs[WAITING]}"))
    assert bool(pick(page, "dialog")) == (status == 303)
    assert reader.post(f"/runs/{scene.runs[WAITING]}/cancel").status_code == status


def test_the_page_of_a_run_asks_few_questions(owner: Reader, scene: Scene, house: House) -> None:
    with counting(house.runtime.database.engine) as counter:
        owner.get(f"/runs/{scene.runs[FAILED]}")
    assert counter.count <= 22
