"""The page of a run that publishes took along: each step in the words and settings of its time."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import delete

from engine.automations import service
from engine.automations.models import RunMove
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.web.api.support import program
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

DAY = timedelta(days=1)


@pytest.fixture
def moved(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return an automation whose only person began with revision 1 and waits in revision 3.

    The step that they passed stands elsewhere since, and is longer.
    """
    raw = making.document(making.delay("first"), making.delay("more", 9), making.delay("last"))
    running = Running(owner, uow, acme, clock, raw)
    running.enter(1)
    clock.advance(DAY)
    running.walker.sweep()
    for days in (8, 7):
        clock.advance(DAY)
        running.save(making.delay("new", 2), making.delay("more", days), making.delay("first", 5))
        assert running.publish(people_inside="move").status_code == 303
    return running


def _run(running: Running) -> str:
    with running.uow.read() as session:
        row = service.find(session, running.town.workspace_id, running.public_id)
        assert row is not None
        return making.runs(session, row)[0].public_id


def test_edt_08_a_run_that_crosses_revisions_names_each_steps_own_and_what_it_was_set_to(
    moved: Running, app: Flask, uow: UnitOfWork, acme: Town
) -> None:
    run = _run(moved)
    page = tree(moved.reader.get(f"/runs/{run}"))
    sentence = words(one(page, "#sentence"))
    assert sentence.startswith("Entered Mon 2 Mar, 09:00 UTC with revision 1. Moved to revision 3 ")
    assert [line.split(" · ended")[0].split(" · due")[0] for line in texts(page, ".log .said")] == [
        "Entered by the event “go”",
        "Waited 1 day step 1 · revision 1 · Done",
        "Waiting 7 days step 2 · revision 3 · Waiting",
        "Moved to revision 2 It was published, and whoever waited was moved to it.",
        "Moved to revision 3 It was published, and whoever waited was moved to it.",
        "Next: Wait 5 days",
    ]
    assert texts(page, ".log details") == [
        "Settings of the step in revision 1 How long 1 Unit days",
        "Settings of the step in revision 3 How long 7 Unit days",
    ]
    [link] = pick(page, f"a[href={moved.page}/revisions/1#at-first]")
    assert words(link) == "revision 1"
    shown = tree(moved.reader.get(str(link.get("href")).partition("#")[0]))
    assert words(one(shown, "#at-first h3")) == "Wait 1 day"
    told = program(app, uow, acme.workspace_id).get(f"/runs/{run}").json
    assert [(visit["step_key"], visit["revision"]) for visit in told["step_runs"]] == [
        ("first", 1), ("more", 3),
    ]  # fmt: skip
    assert (told["entered_with"], told["revision"]) == (1, 3)
    assert [move["revision"] for move in told["moves"]] == [2, 3]
    assert told["documents"]["1"]["steps"][0]["config"] == {"duration": 1, "unit": "days"}
    assert told["documents"]["3"] == told["document"]


def test_the_plan_of_now_lights_each_step_where_it_stands_now(moved: Running) -> None:
    page = tree(moved.reader.get(f"/runs/{_run(moved)}"))
    for key, state in (("new", "ahead"), ("more", "waiting"), ("first", "done")):
        assert pick(page, f"li.{state} #at-{key}"), key
    assert "The event “go” arrives → Wait 1 day → Wait 7 days" in words(one(page, "#way"))


def test_a_run_of_an_older_revision_shows_what_its_steps_are_set_to(moved: Running) -> None:
    moved.save(making.delay("more", 2))
    assert moved.publish(people_inside="stay").status_code == 303
    page = tree(moved.reader.get(f"/runs/{_run(moved)}"))
    assert len(pick(page, ".log details")) == 2


def test_a_run_that_was_moved_before_moves_were_kept_shows_what_the_times_tell(
    moved: Running,
) -> None:
    with moved.uow.begin() as session:
        session.execute(delete(RunMove))
    page = tree(moved.reader.get(f"/runs/{_run(moved)}"))
    assert [line for line in texts(page, ".log .said") if line.startswith("Moved")] == [
        "Moved to revision 3 It was published, and whoever waited was moved to it."
    ]
    assert texts(page, ".log details summary") == [
        "Settings of the step in revision 1",
        "Settings of the step in revision 3",
    ]


def test_more_revisions_ask_no_more_of_the_database(house: House, moved: Running) -> None:
    address = f"/runs/{_run(moved)}"
    counts = []
    for days in (6, 5, 4):
        moved.reader.get(address)
        with counting(house.runtime.database.engine) as asked:
            assert moved.reader.get(address).status_code == 200
        counts.append(asked.count)
        moved.save(making.delay("more", days), making.delay("last"))
        assert moved.publish(people_inside="move").status_code == 303
    assert len(set(counts)) == 1, counts
