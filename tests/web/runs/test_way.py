"""The way of one person over the plan, also where it went in circles or broke off."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from engine.automations.document import Document, read_document
from engine.automations.queries import RunDetail, RunRow, StepRunRow
from tests.factories import automations as making
from web.automations.reading import Told
from web.runs import way

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
RAW = making.document(
    making.delay("wait"),
    making.branch("ask", yes="wait", no=None),
    making.email("mail", "t"),
    making.end("stop"),
    making.delay("never"),
)


@pytest.fixture
def told() -> Told:
    """Return the document of these tests: a branch leads back, another step ends the run."""
    document = read_document(RAW)
    assert isinstance(document, Document)
    return Told(document, {}, {})


def _visit(
    index: int, status: str, branch: str | None = None, skip: str | None = None
) -> StepRunRow:
    step = RAW["steps"][index]
    done = status not in ("pending", "executing")
    return StepRunRow(
        id=f"r.{index}",
        step_index=index,
        step_key=step["key"],
        step_type=step["type"],
        status=status,
        attempt=1,
        scheduled_at=AT,
        delay_until=None,
        due_at=AT + timedelta(days=1),
        started_at=AT,
        completed_at=AT if done else None,
        email_send_row_id=None,
        result={"branch": branch} if branch else {"skip": skip} if skip else None,
        failures=(),
        error_code=None,
        error_message=None,
        revision=1,
    )


def _run(status: str, *visits: StepRunRow) -> RunDetail:
    named: dict[str, Any] = dict.fromkeys(RunRow.__annotations__)
    return RunDetail(RunRow(**{**named, "status": status}), RAW, visits, 1)


def test_a_run_that_waits_at_the_first_step_has_taken_one_piece(told: Told) -> None:
    found = way.read(told, _run("running", _visit(0, "pending")))
    assert found.taken == {(0, None, 1)}
    assert [found.states[row] for row in range(7)] == ["done", "waiting", *["ahead"] * 5]


def test_a_way_back_and_the_way_on_are_both_lit(told: Told) -> None:
    run = _run(
        "running",
        _visit(0, "completed"),
        _visit(1, "completed", "yes"),
        _visit(0, "completed"),
        _visit(1, "completed", "no"),
        _visit(2, "pending"),
    )
    assert way.read(told, run).taken == {
        (0, None, 1), (1, None, 2), (2, "yes", 1), (2, "no", 3),
    }  # fmt: skip
    assert way.standing(run) == "mail"


def test_a_run_that_ended_at_a_buffer_stop_in_the_middle_goes_to_the_end(told: Told) -> None:
    run = _run("completed", _visit(2, "completed"), _visit(3, "completed"))
    found = way.read(told, run)
    assert found.states[4] == "done"
    assert 5 not in found.states
    assert way.standing(run) is None


def test_a_run_that_broke_off_stands_where_it_failed(told: Told) -> None:
    run = _run("cancelled", _visit(0, "completed"), _visit(1, "failed"))
    found = way.read(told, run)
    assert (found.states[2], found.states.get(3)) == ("failed", None)
    assert way.standing(run) == "ask"


def test_a_step_that_was_passed_and_taken_later_counts_as_taken(told: Told) -> None:
    run = _run("running", _visit(2, "skipped"), _visit(0, "completed"), _visit(2, "completed"))
    assert way.read(told, run).states[3] == "done"


def test_the_way_as_text_names_the_exit_of_a_branch(app: Flask, told: Told) -> None:
    run = _run(
        "running", _visit(0, "completed"), _visit(1, "completed", "yes"), _visit(0, "pending")
    )
    with app.test_request_context():
        stops = [(stop.title, stop.word) for stop in way.text(told, run)]
    assert stops == [
        ("The event “go” arrives", ""),
        ("Wait 1 day (1)", ""),
        ("first_name is “Ada”?", "yes"),
        ("Wait 1 day (1)", ""),
    ]


def test_a_step_that_a_person_skipped_was_come_to_and_left(told: Told) -> None:
    run = _run("running", _visit(0, "skipped", skip="user:a"), _visit(1, "pending"))
    found = way.read(told, run)
    assert found.taken == {(0, None, 1), (1, None, 2)}
    assert found.states[1] == "skipped"
    assert [stop.title for stop in way.text(told, run)][1:] == [
        "Wait 1 day (1)",
        "first_name is “Ada”?",
    ]


def test_a_visit_of_an_older_revision_lights_its_step_and_the_way_it_took_then(
    told: Told,
) -> None:
    older = read_document(making.document(making.delay("gone"), RAW["steps"][4], RAW["steps"][2]))
    assert isinstance(older, Document)
    visits = [
        replace(_visit(0, "completed"), revision=0, step_key="gone"),
        replace(_visit(1, "completed"), revision=0, step_key="never"),
        _visit(2, "pending"),
    ]
    found = way.read(told, _run("running", *visits), {0: Told(older, {}, {}), 1: told})
    assert found.taken == {(5, None, 3)}, "from the fifth row, where it stands now, to the third"
    assert (found.states[5], found.states[3], found.states[1]) == ("done", "waiting", "ahead")
