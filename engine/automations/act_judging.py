"""What a person's act means for one run: refused, or where it goes on and how. Pure.

An ended run goes on only if it was cancelled, and only by a person; one that came to its end stays
there. Where a pause holds people acts are allowed: who becomes due is parked by the claim (A11).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engine.automations.act_scene import Scene, Visit
from engine.automations.graph import GraphStep
from engine.automations.models import CANCELLED, COMPLETED, FAILED, PENDING, RUNNING
from engine.automations.run_lifecycle import LOOP_CAP, MAX_STEPS_PER_RUN, REMOVED
from engine.core.outcome import Refused, invalid

RETRY: Final = "retry"
SKIP: Final = "skip-step"
MOVE: Final = "move"
CANCEL: Final = "cancel"
DISMISS: Final = "dismiss"
ACTIONS: Final = (RETRY, SKIP, MOVE, CANCEL, DISMISS)

BEING_EXECUTED: Final = Refused("being_executed")
NOTHING_FAILED: Final = Refused("nothing_failed")
ALREADY_ENDED: Final = Refused("already_ended")
UNREADABLE: Final = Refused("unreadable_revision")


@dataclass(frozen=True)
class RunAct:
    """What is asked of a run. step: the key to move to; reason: why, for the record."""

    action: str
    step: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Move:
    """How a run goes on. target: index of the step, one that is none means the end.

    leave: the open visit is skipped; hasten: its next try is due now, and it stays where it is.
    waits: until when a wait still lasts that an end had cut short; None where `target` decides.
    anew: a new visit whose wait is over. passed: the steps a jump forward leads past.
    """

    target: int
    revive: bool = False
    leave: bool = False
    hasten: bool = False
    anew: bool = False
    waits: datetime | None = None
    passed: Sequence[GraphStep] = ()


def judge(scene: Scene, wanted: RunAct, at: datetime) -> Refused | Move | None:
    """Return what becomes of a run; None for the acts that move nobody on."""
    if wanted.action == DISMISS:
        return None if scene.asks else Refused("nothing_to_dismiss")
    if wanted.action == CANCEL:
        return None if scene.status == RUNNING else ALREADY_ENDED
    if refused := _barred(scene):
        return refused
    if wanted.action == RETRY:
        return _retry(scene, at)
    return _skip(scene) if wanted.action == SKIP else _move(scene, wanted.step)


def _barred(scene: Scene) -> Refused | None:
    if scene.status == COMPLETED:
        return ALREADY_ENDED
    if scene.barred is not None:
        return Refused(scene.barred)
    if scene.ended_reason == REMOVED:
        return Refused("contact_removed")
    if scene.ended_reason == LOOP_CAP or scene.executed >= MAX_STEPS_PER_RUN:
        return Refused("loop_cap")
    if scene.graph is None:
        return UNREADABLE
    return _busy(scene)


def _busy(scene: Scene) -> Refused | None:
    if scene.open is not None and scene.open.leased:
        return BEING_EXECUTED
    # A worker has just moved it on, or is about to.
    return BEING_EXECUTED if scene.status == RUNNING and scene.open is None else None


def _retry(scene: Scene, at: datetime) -> Refused | Move:
    revive, visit = scene.status == CANCELLED, scene.open
    if visit is not None:
        if visit.status == PENDING:
            return NOTHING_FAILED
        return Move(visit.index, revive=revive, hasten=True)
    failed = _failed(scene)
    if isinstance(failed, Refused):
        return failed
    # A wait that the end cut short lasts as long as it would have.
    waits = failed.delay_until if failed.delay_until and failed.delay_until > at else None
    return Move(failed.index, revive=True, anew=True, waits=waits)


def _skip(scene: Scene) -> Refused | Move:
    here = scene.open or _failed(scene)
    if isinstance(here, Refused):
        return here
    if scene.graph is None or scene.graph.at(here.index) is None:
        return UNREADABLE
    return _onward(scene, here.index, scene.graph.following(here.index, None))


def _move(scene: Scene, key: str | None) -> Refused | Move:
    steps = scene.graph.steps if scene.graph else ()
    target = next((step.index for step in steps if step.key == key), None)
    if target is None:
        return invalid("unknown_step", "/step", known=", ".join(step.key for step in steps))
    here = scene.open or scene.last
    return _onward(scene, scene.place if here is None else here.index, target)


def _onward(scene: Scene, here: int, target: int) -> Move:
    return Move(
        target,
        revive=scene.status == CANCELLED,
        leave=scene.open is not None,
        passed=scene.graph.skipped(here, target) if scene.graph else (),
    )


def _failed(scene: Scene) -> Visit | Refused:
    """Return the visit at which a cancelled run broke off."""
    visit = scene.last
    if visit is None or visit.status != FAILED:
        return NOTHING_FAILED
    step = scene.graph.at(visit.index) if scene.graph else None
    return visit if step is not None and step.key == visit.key else UNREADABLE
