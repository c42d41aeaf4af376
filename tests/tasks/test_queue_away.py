"""The queue is away when a wait ends: the timetable's sweeps find the step in its row (Q-01)."""

from datetime import timedelta

import pytest

from engine.automations.models import AutomationStepRun
from engine.core.clock import FixedClock
from engine.house import House
from tasks.periodic import JOBS, Timetable
from tasks.queue import ENGINE, HandOverFailed, Queues
from tests.factories import automations as make
from tests.factories.world import World
from tests.fakes.dispatch import RecordingDispatch
from tests.support.house import START

# The queue is away for ten seconds, ten seconds before the third tick of the sweep to its end.
AWAY = (START + timedelta(seconds=115), START + timedelta(seconds=125))
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("seconds", [114, 116, 120, 121, 124, 126])
def test_q_01_ten_seconds_without_a_queue_around_the_due_time_cost_at_most_a_minute(
    queues: Queues,
    house: House,
    clock: FixedClock,
    dispatch: RecordingDispatch,
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
) -> None:
    world = World(house.runtime.uow, clock)
    automation = world.live(make.delay("wait", seconds / 60, "minutes"))
    # Hints are lost throughout; the ticks alone come by the queue, or on the spot without it.
    dispatch.broken = True
    world.fire()
    put = queues.put

    def give(*arguments: object, **options: object) -> object:
        if AWAY[0] <= clock.now() < AWAY[1]:
            raise HandOverFailed("away")
        return put(*arguments, **options)  # type: ignore[arg-type] # handed on as it came

    monkeypatch.setattr(queues, "put", give)
    queues.attach(house)
    timetable = Timetable(queues, house, [job for job in JOBS if job.sweep == "steps"])

    def visit() -> AutomationStepRun:
        return world.visits(automation)[0]

    due = visit().due_at
    while visit().status == "pending" and clock.now() <= due + 2 * MINUTE:
        timetable.turn()
        queue = queues.by_name[ENGINE]
        # Redis lets an empty dequeue wait for a second.
        while queue.pending_count():
            queue.execute(queue.dequeue())
        clock.advance(timedelta(seconds=1))
    done = visit()
    assert (done.status, world.run(automation).status) == ("completed", "completed")
    assert done.completed_at is not None
    assert timedelta(0) <= done.completed_at - due <= MINUTE
