"""How long somebody would wait for an event or an hour."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import select

from engine.accounts.models import Workspace
from engine.automations import local_time
from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene, told
from engine.automations.kinds.steps.base import Deferred, Failed
from engine.automations.kinds.steps.wait_until import (
    HEARD,
    LATE,
    WINDOW,
    WaitFacts,
    WaitUntilConfig,
    WaitUntilStep,
)

_KIND = WaitUntilStep()
NEVER = Failed("WINDOW_NEVER_OPENS", "The window never opens")


class WaitUntilForesight(Foresight[WaitUntilConfig]):
    """The wait: the event comes at once or not in time; an hour comes when it comes."""

    def choices(self, config: WaitUntilConfig) -> Sequence[str]:
        """Return whether the event comes; who says nothing waits in vain."""
        return () if config.mode == WINDOW else (LATE, HEARD)

    def foresee(self, scene: Scene, config: WaitUntilConfig) -> Foreseen:
        """Say which way the wait ends, and when."""
        visit = scene.visit(config)
        if config.mode == WINDOW:
            return self._window(scene, config)
        if scene.choice != HEARD:
            return told(_KIND.run([visit], {})[0])
        heard = visit._replace(heard={"event": None, "name": config.event_name})
        return replace(told(_KIND.run([heard], {})[0]), until=scene.arrived)

    def _window(self, scene: Scene, config: WaitUntilConfig) -> Foreseen:
        row = Workspace
        shared = scene.session.scalar(select(row.timezone).where(row.id == scene.workspace_id))
        zone = local_time.zone_of(scene.who.timezone, shared)
        try:
            outcome = _KIND.run([scene.visit(config)], {0: WaitFacts(scene.at, zone)})[0]
        except ValueError:
            return Foreseen(failed=NEVER)
        if isinstance(outcome, Deferred):
            return Foreseen(result=dict(outcome.result or {}), until=outcome.until)
        return told(outcome)
