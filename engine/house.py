"""The whole house: every room wired to the floor. The edges start a process here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from engine import pruning
from engine.accounts import models as accounts_models
from engine.audience import models as audience_models
from engine.automations import dates, fanout, rollup
from engine.automations import models as automations_models
from engine.automations.job_walker import JobWalker
from engine.automations.walker import StepWalker
from engine.core import audit, boot, effects, events, outbox, rate, ticks
from engine.core.outbox.drain import drain_for
from engine.core.settings import Settings
from engine.delivery import models as delivery_models
from engine.delivery.kinds import transport_for
from engine.delivery.links import Links
from engine.delivery.walker import SendWalker

# Every module that declares rows, so that the metadata is complete wherever the house is known.
ROWS: Final = (
    accounts_models,
    audience_models,
    automations_models,
    delivery_models,
    audit,
    events,
    outbox,
    rate,
    ticks,
)
Sweep = Callable[[], Mapping[str, int]]


@dataclass(frozen=True)
class House:
    """One started process. sweeps: the periodic jobs by the name `stellwerk sweep` knows.

    bounded: of those that wait for somebody outside, the part that a tick of the timetable does.
    """

    runtime: boot.Runtime
    steps: StepWalker
    jobs: JobWalker
    sends: SendWalker
    sweeps: Mapping[str, Sweep]
    bounded: Mapping[str, Sweep] = field(default_factory=dict)

    def close(self) -> None:
        """Let go of the connections to the mail server and the database."""
        self.sends.close()
        self.runtime.database.dispose()


def start(settings: Settings, dispatch: effects.Dispatch | None = None) -> House:
    """Start one process: floor first, then every room's walkers and subscriptions."""
    runtime = boot.boot(settings, dispatch)
    events.subscribe("automations", fanout.on_events)
    steps, jobs = StepWalker(runtime.uow), JobWalker(runtime.uow)
    links = Links(settings.base_url, runtime.secret_key)
    sends = SendWalker(runtime.uow, transport_for(settings), links)
    drain = drain_for(runtime.uow, settings)
    sweeps: dict[str, Sweep] = {
        "steps": steps.sweep,
        "sends": sends.sweep,
        "run-jobs": jobs.sweep,
        "outbox": drain.sweep,
        "dates": lambda: dates.sweep(runtime.uow),
        "rollup": lambda: rollup.sweep(runtime.uow),
        "retention": lambda: pruning.retention(runtime.uow),
        "purge": lambda: pruning.purge(runtime.uow),
    }
    return House(runtime, steps, jobs, sends, sweeps, {"outbox": drain.tick})
