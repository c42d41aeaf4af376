"""Only here, because PostgreSQL stores no due time that is none (field report STK-13)."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World

CORRUPT = ("soon", "", "Invalid Date", "None", "2026-03-02 09:00:99.000000", "1772442060")


@pytest.mark.parametrize("value", CORRUPT)
def test_stk_13_a_corrupt_due_time_fails_its_run_and_the_sweep_goes_on(
    uow: UnitOfWork, clock: FixedClock, value: str
) -> None:
    world = World(uow, clock)
    waits = [world.live(make.delay("wait", minutes, "minutes")) for minutes in (0.5, 70 / 60)]
    waits += [world.live(make.delay("wait", days, "days")) for days in (1, 400)]
    corrupt = world.live(make.delay("wait", 1, "minutes"))
    assert world.fire() == 5
    with uow.begin() as session:
        run = world.run(corrupt)
        session.execute(
            text("UPDATE automation_step_runs SET due_at = :v WHERE automation_run_id = :run"),
            {"v": value, "run": run.id},
        )
    for pause in (timedelta(0), timedelta(seconds=121), timedelta(days=1), timedelta(days=400)):
        clock.advance(pause)
        world.walker.sweep()
    assert [world.run(each).status for each in waits] == ["completed"] * 4
    ended = world.run(corrupt)
    with uow.read() as session:
        (visit,) = make.visits(session, ended)
        assert_books(session)
    assert (ended.status, visit.status, visit.error_code) == (
        "cancelled",
        "failed",
        "INVALID_DUE_TIME",
    )
