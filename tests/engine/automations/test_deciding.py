"""Why somebody did not get in: a row for each person refused, none for who entered."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from sqlalchemy import event as hooks
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience.queries import ContactRow
from engine.automations import fanout, service
from engine.automations.kinds.triggers.event_received import EventReceivedTrigger
from engine.automations.models import (
    REFUSED,
    Automation,
    AutomationRevision,
    AutomationRun,
    TriggerDecision,
)
from engine.core import events
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts, audience
from tests.factories import automations as make

HOUR: Final = timedelta(hours=1)


@pytest.fixture
def workspace_id(session: Session) -> int:
    return accounts.workspace(session).id


@pytest.fixture
def crowd(session: Session, workspace_id: int) -> Sequence[ContactRow]:
    return [audience.contact(session, workspace_id) for _ in range(3)]


def live(session: Session, workspace_id: int, at: datetime, **more: Any) -> Automation:
    raw = make.document(make.delay("wait"), **more)
    return make.live(session, workspace_id, raw, at)


def switch(session: Session, automation: Automation, to: str, at: datetime) -> None:
    place = (session, automation.workspace_id, automation.public_id)
    service.move(*place, service.Wish(to), make.ACTOR, at)


def told(session: Session) -> list[tuple[int, str | None]]:
    """Return whom nobody let in and why, in the order of the rows."""
    row = TriggerDecision
    return [
        (decision.contact_id, decision.reason)
        for decision in session.scalars(select(row).order_by(row.contact_id, row.id))
    ]


def everybody(crowd: Sequence[ContactRow], reason: str) -> list[tuple[int, str]]:
    return [(person.row_id, reason) for person in crowd]


def test_who_enters_needs_no_row_for_the_run_names_its_event(
    session: Session, clock: FixedClock, workspace_id: int, crowd: Sequence[ContactRow]
) -> None:
    automation = live(session, workspace_id, clock.now())
    assert make.fire(session, workspace_id, crowd, clock.now()) == 3
    assert told(session) == []
    assert all(run.event_id is not None for run in make.runs(session, automation))


def test_who_is_inside_is_told_so_with_version_event_and_instant(
    session: Session, clock: FixedClock, workspace_id: int, crowd: Sequence[ContactRow]
) -> None:
    automation = live(session, workspace_id, clock.now())
    make.fire(session, workspace_id, crowd[:1], clock.now())
    at = clock.advance(HOUR)
    assert make.fire(session, workspace_id, crowd, at) == 2
    [decision] = session.scalars(select(TriggerDecision))
    assert (decision.contact_id, decision.reason) == (crowd[0].row_id, "already_inside")
    assert (decision.automation_id, decision.automation_version) == (automation.id, 1)
    assert (decision.decision, decision.details, decision.decided_at) == (REFUSED, None, at)
    happened = select(events.Event.id).where(events.Event.contact_id == crowd[0].row_id)
    assert decision.event_id == session.scalars(happened.order_by(events.Event.id)).all()[-1]


@pytest.mark.parametrize(
    ("reentry", "reason", "details"),
    [("once", "entered_before", None), ({"days": 7}, "entered_lately", {"days": 7})],
)
def test_who_entered_before_is_told_the_rule_and_who_is_still_inside_that(
    session: Session,
    clock: FixedClock,
    workspace_id: int,
    crowd: Sequence[ContactRow],
    reentry: object,
    reason: str,
    details: object,
) -> None:
    automation = live(session, workspace_id, clock.now(), reentry=reentry)
    make.fire(session, workspace_id, crowd[:2], clock.now())
    out = make.runs(session, automation)[0]
    ended = {"status": "completed", "ended_reason": "finished", "completed_at": clock.now()}
    session.execute(update(AutomationRun).where(AutomationRun.id == out.id).values(ended))
    at = clock.advance(HOUR)
    assert make.fire(session, workspace_id, crowd, at) == 1
    assert told(session) == [
        (crowd[0].row_id, reason),
        (crowd[1].row_id, "already_inside"),
    ]
    first = session.scalars(select(TriggerDecision).order_by(TriggerDecision.contact_id)).first()
    assert first is not None
    assert first.details == details


def test_what_happened_before_the_activation_is_said_unless_something_later_let_one_in(
    session: Session, clock: FixedClock, workspace_id: int, crowd: Sequence[ContactRow]
) -> None:
    live(session, workspace_id, clock.now())
    early = clock.now() - HOUR
    make.fire(session, workspace_id, crowd[:1], clock.now(), occurred_at=early)
    assert told(session) == [(crowd[0].row_id, "before_activation")]
    batch = [
        events.NewEvent(workspace_id, crowd[1].row_id, "event_received", "api", when, "go")
        for when in (early, clock.now(), early)
    ]
    assert events.record(session, batch, clock.now()).started.total() == 1
    assert told(session) == [(crowd[0].row_id, "before_activation")]


def test_a_paused_automation_says_so_and_a_draft_or_a_deleted_one_nothing(
    session: Session, clock: FixedClock, workspace_id: int, crowd: Sequence[ContactRow]
) -> None:
    automation = live(session, workspace_id, clock.now())
    switch(session, automation, "paused", clock.now())
    make.fire(session, workspace_id, crowd, clock.now())
    make.fire(session, workspace_id, crowd, clock.now(), name="other")
    assert told(session) == everybody(crowd, "not_active")
    switch(session, automation, "draft", clock.now())
    make.fire(session, workspace_id, crowd, clock.now())
    assert len(told(session)) == 3


@pytest.mark.parametrize(
    ("steps", "reason"),
    [([], "no_steps"), ([{"key": "a", "type": "gone", "config": {}}], "unreadable")],
)
def test_a_revision_that_leads_nowhere_or_does_not_read_says_so(
    session: Session,
    clock: FixedClock,
    workspace_id: int,
    crowd: Sequence[ContactRow],
    steps: list[Any],
    reason: str,
) -> None:
    automation = live(session, workspace_id, clock.now())
    row = AutomationRevision
    found = session.scalars(select(row).where(row.automation_id == automation.id)).one()
    changed = {"document": {**found.document, "steps": steps}}
    session.execute(update(row).where(row.id == found.id).values(changed))
    assert make.fire(session, workspace_id, crowd, clock.now()) == 0
    assert told(session) == everybody(crowd, reason)


def test_who_comes_while_somebody_pauses_is_told_that_and_not_that_they_are_inside(
    session: Session,
    clock: FixedClock,
    workspace_id: int,
    crowd: Sequence[ContactRow],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    automation = live(session, workspace_id, clock.now())
    listening = fanout._listening

    def paused_behind(*place: Any) -> Sequence[fanout.Live]:
        found = listening(*place)
        switch(session, automation, "paused", clock.now())
        return found

    monkeypatch.setattr(fanout, "_listening", paused_behind)
    assert make.fire(session, workspace_id, crowd, clock.now()) == 0
    assert told(session) == everybody(crowd, "not_active")


def test_events_that_may_start_nothing_or_match_nothing_leave_no_row(
    session: Session, clock: FixedClock, workspace_id: int, crowd: Sequence[ContactRow]
) -> None:
    automation = live(session, workspace_id, clock.now())
    switch(session, automation, "paused", clock.now())
    batch = [
        events.NewEvent(
            workspace_id,
            crowd[0].row_id,
            "event_received",
            "import",
            clock.now(),
            "go",
            start_automations=False,
        )
    ]
    events.record(session, batch, clock.now())
    make.fire(session, workspace_id, crowd, clock.now(), name="Go")
    assert told(session) == []


def test_many_are_refused_by_one_statement_also_in_a_scoped_session(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        crowd = [audience.contact(session, workspace_id) for _ in range(30)]
        for name in ("One", "Two"):
            live(session, workspace_id, clock.now(), name=name)
        make.fire(session, workspace_id, crowd, clock.now())
    said: list[str] = []
    with uow.begin(workspace_id) as session:
        engine = session.connection().engine

        def note(_c: object, _cursor: object, statement: str, *_more: object) -> None:
            said.append(statement)

        hooks.listen(engine, "before_cursor_execute", note)
        try:
            make.fire(session, workspace_id, crowd, clock.now())
        finally:
            hooks.remove(engine, "before_cursor_execute", note)
    assert len([each for each in said if "trigger_decisions" in each]) == 1
    with uow.read() as session:
        assert len(told(session)) == 60


def test_an_addressed_event_starts_the_automation_that_it_names_and_no_other(
    session: Session,
    clock: FixedClock,
    workspace_id: int,
    crowd: Sequence[ContactRow],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(EventReceivedTrigger, "addressed", True)
    meant = live(session, workspace_id, clock.now(), name="Meant")
    other = live(session, workspace_id, clock.now(), name="Other")
    for data in (
        {"automation": meant.public_id, "version": 2},
        {"automation": meant.public_id},
        {},
        {"automation": meant.public_id, "version": 1},
    ):
        event = events.NewEvent(
            workspace_id, crowd[0].row_id, "event_received", "system", clock.now(), "go", data
        )
        events.record(session, [event], clock.now())
    assert len(make.runs(session, meant)) == 1
    assert make.runs(session, other) == []
    assert told(session) == []
