"""Reads: filters, keyset pages, a bounded number of statements, nothing foreign."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from engine.automations import queries, service
from engine.automations.queries import RunFilter
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make


@contextmanager
def statements(session: Session) -> Iterator[list[str]]:
    """Return the list that the statements of the block are added to."""
    seen: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement)

    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


class Scene:
    """A workspace with one live automation and five people at different places."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        with uow.begin() as session:
            self.workspace_id = accounts.workspace(session).id
            self.people = [
                audience.contact(
                    session,
                    self.workspace_id,
                    email=f"p{number}@x.example",
                    first_name="Ada" if number < 2 else "Bob",
                )
                for number in range(5)
            ]
            raw = make.document(make.branch("ask", yes="end"), make.delay("wait"))
            self.automation = make.live(session, self.workspace_id, raw, clock.now())
            for person in self.people:
                clock.advance(timedelta(minutes=1))
                make.fire(session, self.workspace_id, [person], clock.now())
        StepWalker(uow).sweep()


@pytest.fixture
def scene(uow: UnitOfWork, clock: FixedClock) -> Scene:
    return Scene(uow, clock)


def emails(session: Session, scene: Scene, **wanted: Any) -> list[str | None]:
    rows, _ = queries.page_runs(session, scene.workspace_id, RunFilter(**wanted))
    return [row.contact_email for row in rows]


def test_runs_are_filtered_by_each_part(scene: Scene, clock: FixedClock) -> None:
    with scene.uow.read(scene.workspace_id) as session:
        assert len(emails(session, scene)) == 5
        assert emails(session, scene, status="completed") == ["p1@x.example", "p0@x.example"]
        assert len(emails(session, scene, step="wait")) == 3
        assert emails(session, scene, step="ask") == []
        assert emails(session, scene, contact=scene.people[3].public_id) == ["p3@x.example"]
        assert emails(session, scene, q="p4@") == ["p4@x.example"]
        assert emails(session, scene, since=clock.now()) == ["p4@x.example"]
        assert len(emails(session, scene, until=clock.now())) == 4
        assert emails(session, scene, automation="unknown") == []
        assert emails(session, scene, error="nothing failed") == []


def test_runs_page_by_keyset_without_gap_or_repeat(scene: Scene) -> None:
    seen, cursor = [], None
    with scene.uow.read(scene.workspace_id) as session:
        for _ in range(3):
            rows, cursor = queries.page_runs(
                session, scene.workspace_id, RunFilter(), cursor, limit=2
            )
            seen += [row.contact_email for row in rows]
    assert seen == [f"p{number}@x.example" for number in range(4, -1, -1)]
    assert cursor is None


def test_a_run_tells_every_visit_and_what_decided(scene: Scene) -> None:
    with scene.uow.read(scene.workspace_id) as session:
        rows, _ = queries.page_runs(session, scene.workspace_id, RunFilter())
        detail = queries.get_run(session, scene.workspace_id, rows[0].public_id)
    assert detail is not None
    assert [(step.step_key, step.status) for step in detail.steps] == [
        ("ask", "completed"),
        ("wait", "pending"),
    ]
    assert detail.steps[0].result is not None
    assert detail.steps[0].result["branch"] == "no"
    assert detail.run.due_at == detail.steps[1].due_at
    assert detail.steps[1].id == f"{detail.run.public_id}.2"


def test_nothing_of_another_workspace_is_found(scene: Scene) -> None:
    with scene.uow.begin() as session:
        other = accounts.workspace(session).id
    with scene.uow.read(other) as session:
        assert queries.page_runs(session, other, RunFilter()) == ([], None)
        assert queries.page_automations(session, other) == ([], None)
        public_id = scene.automation.public_id
        assert queries.get_automation(session, other, public_id) is None
        assert queries.page_revisions(session, other, public_id) is None
        person = scene.people[0].row_id
        assert queries.story(session, other, person) == []


@pytest.mark.parametrize("mails", [1, 40])
def test_an_automation_with_names_takes_a_bounded_number_of_statements(
    uow: UnitOfWork, clock: FixedClock, mails: int
) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        template = delivery.template(session, workspace_id, name="Greeting")
        steps = [make.email(f"m{number}", template.public_id) for number in range(mails)]
        saved = service.create(
            session, workspace_id, make.document(*steps), make.ACTOR, clock.now()
        )
        assert isinstance(saved, service.Saved)
    with uow.read(workspace_id) as session, statements(session) as seen:
        detail = queries.get_automation(session, workspace_id, saved.public_id)
    assert detail is not None
    assert detail.names[f"m{mails - 1}"] == {"template_name": "Greeting"}
    assert len(seen) <= 8


def test_the_story_tells_entering_and_leaving(scene: Scene) -> None:
    person = scene.people[0].row_id
    with scene.uow.read(scene.workspace_id) as session:
        lines = queries.story(session, scene.workspace_id, person)
        older = queries.story(session, scene.workspace_id, person, lines[0].place)
    assert [line.title_code for line in lines] == ["run_completed", "run_started"]
    assert lines[0].params == {"automation": "Welcome", "reason": "finished"}
    assert older == lines[1:]
