"""Acts on many runs by page: the count first, the choice, the progress, what was left, the stop."""

import pytest
from flask import Flask

from engine.automations import job_walker
from engine.house import House
from tests.factories.books import assert_books
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree


def ask(reader: Reader, **form: str) -> str:
    """Ask for a job; return the address of its page."""
    answer = reader.post("/runs/bulk", form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def work(house: House) -> None:
    house.jobs.sweep()
    with house.runtime.uow.read() as session:
        assert_books(session)


def test_the_count_and_every_effect_stand_there_before_anything_is_done(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get("/runs?status=running"))
    (link,) = pick(page, ".acts a")
    assert words(link) == "Act on all of these"
    form = tree(owner.get(link.get("href")))
    assert words(one(form, ".true-now")) == "The filter finds 7 runs. Nothing has been done yet."
    assert words(one(form, "dl.facts")) == "Status On the way"
    assert [each.get("value") for each in pick(form, "input[type=radio]")] == [
        "retry", "skip-step", "cancel", "dismiss",
    ]  # fmt: skip
    automation = scene.automations["active"]
    one_only = tree(owner.get(f"/runs/bulk?automation={automation}"))
    assert len(pick(one_only, "input[type=radio]")) == 5
    assert len(pick(one_only, "#to option")) == 6


def test_a_job_is_followed_to_its_end_and_names_what_it_left(
    owner: Reader, scene: Scene, house: House
) -> None:
    address = ask(owner, action="cancel", reason="Wrong list")
    before = tree(owner.get(address))
    assert "0 of 10 runs" in words(one(before, "#job"))
    assert one(before, "#job").get("hx-trigger") == "every 2s"
    work(house)
    part = owner.get(address, HTMX)
    assert "<html" not in part.text
    after = tree(owner.get(address))
    assert one(after, "#job").get("hx-get") is None
    assert "Done: 7. Left as they are: 3." in words(one(after, "#job"))
    assert texts(after, "tbody td.mid") == ["This run has ended already."] * 3
    log = texts(tree(owner.get(f"/runs/{scene.runs['at wait']}")), ".log .said")
    assert not any("at wait" in line for line in log)
    assert any(line.endswith("ended the run Wrong list") for line in log)


def test_a_cause_is_acted_on_from_the_page_of_what_needs_attention(
    owner: Reader, scene: Scene, house: House
) -> None:
    link = pick(tree(owner.get("/attention")), "td a.btn-primary")[0]
    form = tree(owner.get(link.get("href")))
    assert words(one(form, ".true-now")).startswith("The filter finds 1 run.")
    hidden = {
        each.get("name"): each.get("value")
        for each in pick(form, "form.panel input[type=hidden]")
        if each.get("name") != "csrf_token"
    }
    assert hidden.keys() == {"automation", "step", "error", "attention"}
    ask(owner, action="dismiss", **hidden)
    work(house)
    assert not pick(tree(owner.get("/attention")), "tbody tr")


def test_a_stopped_job_leaves_the_rest_alone(owner: Reader, scene: Scene, house: House) -> None:
    address = ask(owner, action="cancel", status="running")
    assert owner.post(f"{address}/stop").status_code == 303
    page = tree(owner.get(address))
    assert "What was done stays done" in words(one(page, "#said"))
    work(house)
    assert "Done: 0." in words(one(tree(owner.get(address)), "#job"))
    owner.post(f"{address}/stop")
    assert "stopped already" in words(one(tree(owner.get(address)), "#said"))


def test_a_job_that_could_not_go_on_says_so_on_its_page(
    owner: Reader, scene: Scene, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = ask(owner, action="cancel", status="running")

    def raises(*_asked: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(job_walker, "page_ids", raises)
    work(house)
    panel = words(one(tree(owner.get(address)), "#job"))
    assert "Stopped" in panel
    assert "The program made a mistake and could not go on" in panel
    assert "Stop it" not in panel


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Say what is to be done."),
        ({"action": "move"}, "Say which step to move to."),
        ({"action": "cancel", "q": "nobody of that name"}, "No run matches any more."),
    ],
)
def test_what_cannot_be_asked_for_is_said_and_the_choice_stays(
    owner: Reader, scene: Scene, form: dict[str, str], said: str
) -> None:
    answer = owner.post("/runs/bulk", form)
    assert answer.status_code == 422
    assert words(one(tree(answer), "#mistakes")) == said
    assert owner.post("/runs/bulk", {"action": "explode"}).status_code == 400


def test_who_may_not_act_sees_no_way_to(app: Flask, scene: Scene, acme: Town) -> None:
    editor = Reader(app)
    editor.sign_in(acme.people["editor"])
    assert not pick(tree(editor.get("/runs")), ".acts a")
    assert editor.get("/runs/bulk").status_code == 403
    assert editor.post("/runs/bulk", {"action": "cancel"}).status_code == 403


def test_a_job_of_another_workspace_is_not_found(
    owner: Reader, scene: Scene, app: Flask, other: Town
) -> None:
    address = ask(owner, action="dismiss")
    stranger = Reader(app)
    stranger.sign_in(other.people["owner"])
    assert stranger.get(address).status_code == 404
    assert stranger.post(f"{address}/stop").status_code == 404


def test_the_pages_ask_few_questions(owner: Reader, scene: Scene, house: House) -> None:
    address = ask(owner, action="cancel")
    work(house)
    for page in (address, "/runs/bulk?status=running", "/runs?step=wait&error=x"):
        with counting(house.runtime.database.engine) as asked:
            owner.get(page)
        assert asked.count <= 14, (page, asked.statements)
