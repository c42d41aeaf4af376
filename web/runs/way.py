"""The way of one person over the plan: which stations, which exits, where now."""

from dataclasses import dataclass
from typing import Final

from engine.automations.models import COMPLETED, FAILED, RUNNING, SKIPPED
from engine.automations.queries import RunDetail, StepRunRow
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.automations.track import START, Pass, Way
from web.runs import messages

DONE: Final = "done"
AHEAD: Final = "ahead"
# The reason of a visit that was left because a person moved somebody on.
MOVED: Final = "moved"
_STATES: Final = {COMPLETED: DONE, FAILED: "failed", SKIPPED: "skipped"}


@dataclass(frozen=True)
class Stop:
    """A station of the way as text; word: the way out taken there, or ''."""

    title: str
    word: str


def read(told: Told, run: RunDetail) -> Way:
    """Return how the person went, for the plan."""
    real = [visit for visit in run.steps if came(visit)]
    taken: set[Pass] = {(0, None, visit.step_index + 1) for visit in real[:1]}
    taken |= {(visit.step_index + 1, *_exit(told, visit)) for visit in real if _left(visit)}
    last = len(told.graph.steps) + 1
    states = {row: AHEAD for row in range(1, last + 1) if run.run.status == RUNNING}
    states |= {visit.step_index + 1: _state(visit) for visit in run.steps if visit not in real}
    states |= {visit.step_index + 1: _state(visit) for visit in real}
    states[0] = DONE
    if any(target == last for _row, _branch, target in taken):
        states[last] = DONE
    return Way(states, frozenset(taken))


def text(told: Told, run: RunDetail) -> list[Stop]:
    """Return the way in words, in the order it was gone."""
    stops = [Stop(told.trigger(), "")]
    for visit in run.steps:
        step = told.graph.at(visit.step_index)
        if step is None or not came(visit):
            continue
        branch = (visit.result or {}).get("branch") if _left(visit) else None
        word = STEPS.get(step.type).way_out(str(branch)) if branch else ""
        stops.append(Stop(told.title(step), word))
    return stops


def standing(run: RunDetail) -> str | None:
    """Return the key of the station where the person stands, or was when the run broke off."""
    real = [visit for visit in run.steps if came(visit)]
    if run.run.status == COMPLETED:
        return None
    return real[-1].step_key if real else START


def skipped_by(visit: StepRunRow) -> str | None:
    """Return who skipped the step, as stored; None where nobody did, or a jump led past it."""
    by = (visit.result or {}).get("skip") if visit.status == SKIPPED else None
    return None if by is None else str(by)


def moved_to(visit: StepRunRow) -> str | None:
    """Return the key of the step that a person moved somebody to from here, or None."""
    result = visit.result or {}
    return str(result.get("to")) if skipped_by(visit) and result.get("reason") == MOVED else None


def came(visit: StepRunRow) -> bool:
    """Return whether the person stood at the step; a jump leads past steps that nobody sees."""
    return visit.status != SKIPPED or skipped_by(visit) is not None


def left_here(visit: StepRunRow) -> bool:
    """Return whether the run was ended around this step; nothing went wrong here."""
    return visit.status == FAILED and visit.error_code in messages.LEFT


def _left(visit: StepRunRow) -> bool:
    return visit.status == COMPLETED or skipped_by(visit) is not None


def _exit(told: Told, visit: StepRunRow) -> tuple[str | None, int]:
    step = told.graph.at(visit.step_index)
    to = moved_to(visit)
    if to is not None:
        places = (each.index for each in told.graph.steps if each.key == to)
        return None, next(places, visit.step_index) + 1
    branch = (visit.result or {}).get("branch")
    name = str(branch) if branch in (step.exits if step else {}) else None
    target = told.graph.following(visit.step_index, name) if step else visit.step_index + 1
    return name, target + 1


def _state(visit: StepRunRow) -> str:
    return "skipped" if left_here(visit) else _STATES.get(visit.status, "waiting")
