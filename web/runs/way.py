"""The way of one person over the plan: which stations, which exits, where now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.automations.models import COMPLETED, FAILED, RUNNING, SKIPPED
from engine.automations.queries import RunDetail, StepRunRow
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.automations.track import START, Pass, Way
from web.runs import messages

Then = Mapping[int, Told]
"""The revisions that a run went by, by their number."""

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


def read(told: Told, run: RunDetail, then: Then | None = None) -> Way:
    """Return how the person went, for the plan of the revision that the run is pinned to.

    then: revisions by number; the visits of an older one light the stations that are still there.
    """
    plan = _Plan(told, then or {})
    real = [visit for visit in run.steps if came(visit)]
    taken: set[Pass | None] = {(0, None, row) for visit in real[:1] if (row := plan.row(visit))}
    taken |= {plan.way_out(visit) for visit in real if _left(visit)}
    last = len(told.graph.steps) + 1
    states = {row: AHEAD for row in range(1, last + 1) if run.run.status == RUNNING}
    for visits in ([visit for visit in run.steps if visit not in real], real):
        states |= {row: _state(visit) for visit in visits if (row := plan.row(visit))}
    states[0] = DONE
    lit = frozenset(piece for piece in taken if piece is not None)
    if any(target == last for _row, _branch, target in lit):
        states[last] = DONE
    return Way(states, lit)


def text(told: Told, run: RunDetail, then: Then | None = None) -> list[Stop]:
    """Return the way in words, in the order it was gone; then: revisions by number."""
    stops = [Stop(told.trigger(), "")]
    for visit in run.steps:
        gone_by = (then or {}).get(visit.revision, told)
        step = gone_by.graph.at(visit.step_index)
        if step is None or not came(visit):
            continue
        branch = (visit.result or {}).get("branch") if _left(visit) else None
        word = STEPS.get(step.type).way_out(str(branch)) if branch else ""
        stops.append(Stop(gone_by.titles[step.key], word))
    return stops


def standing(run: RunDetail) -> str | None:
    """Return the key of the station where the person stands, or was when the run broke off."""
    real = [visit for visit in run.steps if came(visit)]
    if run.run.status == COMPLETED:
        return None
    return real[-1].step_key if real else START


@dataclass(frozen=True)
class _Plan:
    """The plan of one revision, and where the visits of others stand on it."""

    told: Told
    then: Then

    def row(self, visit: StepRunRow) -> int | None:
        """Return the row of the station of a visit; None where the plan has none any more."""
        return visit.step_index + 1 if visit.revision not in self.then else self._at(visit.step_key)

    def way_out(self, visit: StepRunRow) -> Pass | None:
        """Return the piece of way on which a visit was left, or None."""
        row, to = self.row(visit), moved_to(visit)
        if row is None:
            return None
        if to is not None:
            return row, None, self._at(to) or row
        gone_by = self.then.get(visit.revision, self.told)
        step = gone_by.graph.at(visit.step_index)
        branch = (visit.result or {}).get("branch")
        name = str(branch) if branch in (step.exits if step else {}) else None
        index = visit.step_index
        following = gone_by.graph.at(gone_by.graph.following(index, name) if step else index + 1)
        target = self._at(following.key) if following else len(self.told.graph.steps) + 1
        return None if target is None else (row, name, target)

    def _at(self, key: str) -> int | None:
        return next((step.index + 1 for step in self.told.graph.steps if step.key == key), None)


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


def _state(visit: StepRunRow) -> str:
    return "skipped" if left_here(visit) else _STATES.get(visit.status, "waiting")
