"""The step walker: claim, run, settle and advance on batches; and the sweep of due steps.

Knows no kind by name: the graph hands it the kind. The loop cap and the active guard live in the
claim (facts 1.7, architecture 3).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from engine.automations import claim_lifecycle, settling
from engine.automations.claim_lifecycle import FIRST, LAPSED, RETRY
from engine.automations.claiming import StepItem, guard
from engine.automations.effects import WalkSteps
from engine.automations.hints import SWEEP_PERIOD, hint_steps
from engine.automations.kinds.steps.base import Failed, Outcome, Passed
from engine.core import clock, effects
from engine.core.unit_of_work import UnitOfWork
from engine.core.walking import Report, beat, run_isolated, walk


class StepWalker:
    """Walks due step runs. One step per run and beat; due next steps follow in the same walk."""

    def __init__(self, uow: UnitOfWork) -> None:
        self._uow = uow

    def walk(self, ids: Sequence[int]) -> Report:
        """Walk the step runs a hint named; what the time budget left over is hinted again."""
        report = walk(self, ids)
        for start in range(0, len(report.left), effects.CHUNK):
            effects.hand_over([WalkSteps(tuple(report.left[start : start + effects.CHUNK]))])
        return report

    def sweep(self) -> Mapping[str, int]:
        """Walk whatever is due until nothing is; free lapsed leases one by one (decision A5)."""
        with self._uow.begin() as session:
            unreadable = claim_lifecycle.fail_unreadable(session, clock.now())
        lapsed = 0
        while items := self._claim(None, 1, (LAPSED,)):
            beat(self, items)
            lapsed += len(items)
        walked = 0
        while (report := walk(self)).claimed:
            walked += report.claimed
        return {
            "walked": walked,
            "lapsed": lapsed,
            "unreadable": unreadable,
            "hinted": self._hint_coming(),
        }

    def _hint_coming(self) -> int:
        """Hint what becomes due before the next sweep, so that a long wait ends on time."""
        at = clock.now()
        with self._uow.begin() as session:
            coming = claim_lifecycle.coming(session, at, at + SWEEP_PERIOD)
            hint_steps(session, coming, at)
        return len(coming)

    def claim(self, ids: Sequence[int] | None, limit: int) -> Sequence[StepItem]:
        """Claim due step runs, first executions before retries; guards settle what may not run."""
        return self._claim(ids, limit, (FIRST, RETRY))

    def parts(self, items: Sequence[StepItem]) -> Sequence[Sequence[StepItem]]:
        """Settle what stays within the house before anybody waits for the servers of others."""
        calling = [item for item in items if item.step.kind.network and not item.passed]
        if not calling:
            return [items]
        ids = {item.id for item in calling}
        others = [item for item in items if item.id not in ids]
        return [others, calling] if others else [calling]

    def run(self, items: Sequence[StepItem]) -> Mapping[int, Outcome]:
        """Load facts set-wise per kind, close the session, then let each kind decide."""
        groups: dict[str, list[StepItem]] = defaultdict(list)
        outcomes: dict[int, Outcome] = {}
        for item in items:
            if item.skip is not None and item.passed:
                outcomes[item.id] = Passed(item.skip)
            else:
                groups[item.step.type].append(item)
        # Kind by kind: what one raises must not have another call the servers of others again.
        for members in groups.values():
            outcomes.update(run_isolated(members, self._decide, self.crashed))
        return outcomes

    def _decide(self, items: Sequence[StepItem]) -> Mapping[int, Outcome]:
        """Let the one kind of these items decide."""
        kind = items[0].step.kind
        visits = [item.visit for item in items]
        with self._uow.read() as session:
            facts = kind.load(session, visits)
        return kind.run(visits, facts)

    def crashed(self, item: StepItem, error: Exception) -> Outcome:
        """Return the failure of a step whose kind raised (facts 1.8: an ordinary failure)."""
        # The type alone: an error's text may hold anything, people's data included.
        return Failed("STEP_CRASHED", f"{item.step.type} step raised {type(error).__name__}")

    def settle(self, items: Sequence[StepItem], outcomes: Mapping[int, Outcome]) -> Sequence[int]:
        """Write outcomes and advance in one transaction; return the steps that are due at once."""
        while True:
            try:
                with self._uow.begin() as session:
                    return settling.settle(session, items, outcomes, clock.now())
            except settling.Overtaken:
                # Somebody took a step or ended a run between our look and our write: look again.
                continue

    def _claim(
        self, ids: Sequence[int] | None, limit: int, ways: Sequence[str]
    ) -> Sequence[StepItem]:
        """Claim by the given ways, in a transaction of its own, until something may run.

        Lapsed rows are claimed alone, so that a step that kills its worker takes nobody along.
        """
        while True:
            at = clock.now()
            rows: list[Any] = []
            first: set[int] = set()
            with self._uow.begin() as session:
                for way in ways:
                    taken = claim_lifecycle.take(session, way, ids, limit - len(rows), at)
                    rows.extend(taken)
                    if way == FIRST:
                        first = {row.id for row in taken}
                    if len(rows) >= (limit if ids is None else min(limit, len(ids))):
                        break
                items = guard(session, rows, first, at) if rows else []
            if items or not rows:
                return items
