"""The one table: effect class → task and queue. Plugs the queues into the engine's hand-over.

A hint is only sent when it comes before the sweep would: what is due later is left to the rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engine.automations.effects import WalkSteps, WorkRunJobs
from engine.core import clock
from engine.core.effects import CHUNK, Effect
from engine.core.settings import Settings
from engine.delivery.effects import DispatchSends
from tasks.automations import WALK_STEPS, WORK_RUN_JOBS
from tasks.delivery import DISPATCH_SENDS
from tasks.queue import ENGINE, Argument, Queues, TaskKind

# The sweeps of steps and sends run every minute (interface, "Command line").
NEXT_SWEEP: Final = timedelta(seconds=60)
TASKS: Final = (WALK_STEPS, WORK_RUN_JOBS, DISPATCH_SENDS)


@dataclass(frozen=True)
class Route:
    """Where the hints of an effect class go. key: arguments before the ids."""

    task: TaskKind
    ids: Callable[[Any], Sequence[int]]
    due_at: Callable[[Any], datetime | None]
    queue: Callable[[Any], str]
    key: Callable[[Any], tuple[Argument, ...]] = lambda _effect: ()


ROUTES: Final[Mapping[type[Effect], Route]] = {
    WalkSteps: Route(
        task=WALK_STEPS,
        ids=lambda effect: effect.step_run_ids,
        due_at=lambda effect: effect.due_at,
        queue=lambda _effect: ENGINE,
    ),
    WorkRunJobs: Route(
        task=WORK_RUN_JOBS,
        ids=lambda effect: effect.job_ids,
        due_at=lambda _effect: None,
        queue=lambda _effect: ENGINE,
    ),
    # A pool's queue bears the pool's name.
    DispatchSends: Route(
        task=DISPATCH_SENDS,
        ids=lambda effect: effect.send_ids,
        due_at=lambda effect: effect.due_at,
        queue=lambda effect: effect.pool,
        key=lambda effect: (effect.pool,),
    ),
}

Address = tuple[str, str, tuple[Argument, ...], datetime | None]


class Dispatcher:
    """The hand-over of one process; use as `engine.core.effects.Dispatch`."""

    def __init__(self, queues: Queues) -> None:
        self._queues = queues

    def __call__(self, effects: Sequence[Effect]) -> None:
        """Turn the effects of one commit into as few hints as possible.

        Raises HandOverFailed at the first hint the queue refuses; the rest is not tried.
        """
        at = clock.now()
        bundles: dict[Address, dict[int, None]] = {}
        for effect in effects:
            route = ROUTES[type(effect)]
            due_at = route.due_at(effect)
            if due_at is not None and due_at > at + NEXT_SWEEP:
                continue
            later = due_at if due_at is not None and due_at > at else None
            address = (route.queue(effect), route.task.name, route.key(effect), later)
            bundles.setdefault(address, {}).update(dict.fromkeys(route.ids(effect)))
        for address, ids in bundles.items():
            self._put(address, list(ids))

    def _put(self, address: Address, ids: Sequence[int]) -> None:
        queue, task, key, due_at = address
        for start in range(0, len(ids), CHUNK):
            arguments = (*key, ids[start : start + CHUNK])
            self._queues.put(queue, task, arguments, due_at)


def connect(settings: Settings) -> tuple[Queues, Dispatcher]:
    """Return the queues of an installation and the hand-over to them. Opens nothing yet.

    `queues.attach(house)` makes a process serve them too.
    """
    queues = Queues(settings, TASKS)
    return queues, Dispatcher(queues)
