"""The queue is away when a wait ends: the timetable's sweeps find the step in its row (Q-01)."""

from datetime import timedelta

import pytest

from engine.automations.models import AutomationStepRun
from engine.core.clock import FixedClock
from engine.house import House
from tasks.periodic import JOBS, Timetable
from tests.factories import automations as make
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("seconds", [114, 116, 120, 121, 124, 126])
def test_q_01_without_a_queue_around_the_due_time_a_wait_ends_at_most_a_minute_late(
    house: House, clock: FixedClock, dispatch: RecordingDispatch, seconds: int
) -> None:
    world = World(house.runtime.uow, clock)
    automation = world.live(make.delay("wait", seconds / 60, "minutes"))
    dispatch.broken = True
    world.fire()
    timetable = Timetable(house, [job for job in JOBS if job.sweep == "steps"])

    def visit() -> AutomationStepRun:
        return world.visits(automation)[0]

    due = visit().due_at
    while visit().status == "pending" and clock.now() <= due + 2 * MINUTE:
        timetable.turn()
        for thread in timetable.threads():
            thread.join(30)
        clock.advance(timedelta(seconds=1))
    done = visit()
    assert (done.status, world.run(automation).status) == ("completed", "completed")
    assert done.completed_at is not None
    assert timedelta(0) <= done.completed_at - due <= MINUTE
