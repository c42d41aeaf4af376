"""What the claim looks at before a step may run: its run, automation, person and place.

Guards of facts 1.7: whoever may not run is settled here, in the claim's own transaction; who must
wait because the automation is on hold is parked (decision A11).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy.orm import Session

from engine.automations import (
    claim_lifecycle,
    counters,
    holding,
    lifecycle,
    run_lifecycle,
    run_records,
)
from engine.automations.contexts import Context, load_context
from engine.automations.graph import Graph, GraphStep
from engine.automations.hints import hint_steps
from engine.automations.kinds.steps.base import Failed, Visit
from engine.automations.models import CANCELLED, EXECUTING, FAILED, PENDING, RUNNING
from engine.automations.run_lifecycle import MAX_EXECUTIONS, MAX_STEPS_PER_RUN, PUT_OFF
from engine.core.db import JsonObject

NOT_FOUND: Final = Failed(run_lifecycle.NOT_FOUND, "Automation run or contact not found")
RUN_ENDED: Final = Failed(run_lifecycle.RUN_ENDED, "Automation run has ended")
NO_LONGER_ACTIVE: Final = Failed(run_lifecycle.NO_LONGER_ACTIVE, "Automation is no longer active")
NO_STEP: Final = Failed("STEP_NOT_FOUND", "Step not found")
TOO_MANY: Final = Failed(
    "LOOP_CAP",
    f"Automation exceeded {MAX_STEPS_PER_RUN} step executions — cancelled to prevent a loop",
)
LOST: Final = Failed("LEASE_LOST", "The worker was lost while executing the step")


class StepItem(NamedTuple):
    """One claimed visit with all that settling needs. skip: who skips it and why."""

    id: int
    attempt: int
    lease_until: datetime
    run_id: int
    workspace_id: int
    automation_id: int
    step: GraphStep
    graph: Graph
    visit: Visit[Any]
    failures: tuple[JsonObject, ...]
    skip: JsonObject | None = None

    @property
    def tries(self) -> int:
        """Return which try of the step this is, from 1; to be put off was none."""
        return self.attempt % PUT_OFF

    @property
    def carries(self) -> bool:
        """Return whether the skip goes on until the next wait: what a resume finds overdue is
        the wait, and what should not happen is the mail behind it (decision A11)."""
        return self.skip is not None and self.skip.get("reason") == holding.OVERDUE

    @property
    def passed(self) -> bool:
        """Return whether the step is not run at all; who carries a skip still takes branches."""
        return self.skip is not None and not (self.carries and self.step.exits)


@dataclass
class _Sorted:
    """Claimed rows by what becomes of them. lease_until: the end of the leases they got."""

    lease_until: datetime
    items: list[StepItem] = field(default_factory=list)
    parked: list[Any] = field(default_factory=list)
    refused: list[tuple[Any, Failed]] = field(default_factory=list)
    endings: dict[int, str] = field(default_factory=dict)


def guard(
    session: Session, rows: Sequence[Any], first: Collection[int], at: datetime
) -> Sequence[StepItem]:
    """Return the items that may run; park the held, fail the others and end their runs (facts 1.7).

    first: the step runs that were claimed for their first execution.
    """
    contexts = load_context(session, rows)
    parted = _Sorted(at + claim_lifecycle.LEASE)
    for row in rows:
        _sort(parted, row, contexts[row.automation_run_id])
    parked = {row.id for row in parted.parked}
    moved = [row for row in rows if row.id in first and row.id not in parked]
    counters.count_steps(session, _keys(moved, contexts), EXECUTING, PENDING)
    _park(session, parted.parked, first, contexts, at)
    _fail(session, parted.refused, contexts, at)
    # A worker lost four times over is a failed run like any other (facts 1.10). Lapsed rows are
    # claimed alone, so no run is locked yet when the automation is.
    lost = [row for row, failure in parted.refused if failure is LOST]
    owners = Counter(contexts[row.automation_run_id].run.automation_id for row in lost)
    lifecycle.record_failures(session, owners, at)
    ended = run_lifecycle.end_runs(session, CANCELLED, parted.endings, at)
    broken = {
        row.automation_run_id: (row.step_key, LOST.code, LOST.message)
        for row in lost
        if row.automation_run_id in ended
    }
    run_records.note_failures(session, broken, at)
    return parted.items


def _sort(parted: _Sorted, row: Any, context: Context) -> None:
    if not context.run.clear and context.held:
        parted.parked.append(row)
        return
    verdict = _verdict(row, context)
    if verdict is None:
        parted.items.append(_item(row, context, parted.lease_until))
        return
    failure, ending = verdict
    parted.refused.append((row, failure))
    if ending is not None:
        parted.endings[row.automation_run_id] = ending


def _verdict(row: Any, context: Context) -> tuple[Failed, str | None] | None:
    """Return why a claimed step may not run, and how its run ends then; None when it may."""
    graph, run = context.graph, context.run
    # One after the other: this is asked of every step, and most pass.
    if not run.clear:
        return _obstacle(run)
    if graph is None or graph.at(row.step_index) is None:
        return NO_STEP, run_lifecycle.STEP_NOT_FOUND
    if run.steps_executed >= MAX_STEPS_PER_RUN:
        return TOO_MANY, run_lifecycle.LOOP_CAP
    if row.attempt > MAX_EXECUTIONS and run_lifecycle.tries(row.attempt) > MAX_EXECUTIONS:
        return LOST, run_lifecycle.STEP_FAILED
    return None


def _obstacle(run: Any) -> tuple[Failed, str | None]:
    """Return what keeps a whole run from going on."""
    if run.status != RUNNING:
        return RUN_ENDED, None
    if run.contact_deleted:
        return NOT_FOUND, run_lifecycle.REMOVED
    if run.automation_deleted:
        return NOT_FOUND, run_lifecycle.AUTOMATION_DELETED
    return NO_LONGER_ACTIVE, run_lifecycle.NOT_ACTIVE


def _item(row: Any, context: Context, lease_until: datetime) -> StepItem:
    graph, run = context.graph, context.run
    if graph is None:
        raise LookupError(run.revision_id)
    # Unpacked in the order of the claim: by name each would be looked up, for every step there is.
    row_id, run_id, workspace_id, index, attempt, scheduled_at, _, result, failures, heard = row
    step = graph.steps[index]
    visit = Visit(
        id=row_id,
        workspace_id=workspace_id,
        contact_id=run.contact_id,
        # The row's number alone would not do: SQLite gives it away again once the row is gone.
        key=f"step:{run.public_id}:{row_id}",
        config=step.config,
        scheduled_at=scheduled_at,
        trigger=run.trigger_data or {},
        attempt=attempt % PUT_OFF,
        person=run.person,
        automation=run.automation,
        step=step.key,
        heard=heard,
    )
    return StepItem(
        id=row_id,
        attempt=attempt,
        lease_until=lease_until,
        run_id=run_id,
        workspace_id=workspace_id,
        automation_id=run.automation_id,
        step=step,
        graph=graph,
        visit=visit,
        failures=tuple(failures or ()),
        skip=result if result and "skip" in result else None,
    )


def _keys(rows: Sequence[Any], contexts: Mapping[int, Context]) -> Sequence[tuple[int, int, str]]:
    return [
        (row.workspace_id, contexts[row.automation_run_id].run.automation_id, row.step_key)
        for row in rows
    ]


def _park(
    session: Session,
    parked: Sequence[Any],
    first: Collection[int],
    contexts: Mapping[int, Context],
    at: datetime,
) -> None:
    """Take back the claims of held rows: for whoever counts they were never made.

    Where a resume is under way nobody is parked, for it would not see who is: a moment later the
    row is claimed again.
    """
    if not parked:
        return
    owners = {row.id: contexts[row.automation_run_id].run.automation_id for row in parked}
    paused = holding.surely_paused(session, set(owners.values()))
    undo = {True: claim_lifecycle.park, False: claim_lifecycle.put_back}
    for sure, taken_back in undo.items():
        ids = [row.id for row in parked if (owners[row.id] in paused) == sure]
        again = [row_id for row_id in ids if row_id not in first]
        taken_back(session, [row_id for row_id in ids if row_id in first], again, at)
        if not sure:
            hint_steps(session, [(row_id, at + claim_lifecycle.LATER) for row_id in ids], at)


def _fail(
    session: Session,
    refused: Sequence[tuple[Any, Failed]],
    contexts: Mapping[int, Context],
    at: datetime,
) -> None:
    rows = [
        {
            "id": row.id,
            "attempt": row.attempt,
            "failures": row.failures,
            "error_code": failure.code,
            "error_message": failure.message,
        }
        for row, failure in refused
    ]
    run_lifecycle.settle_steps(session, FAILED, rows, at)
    keys = _keys([row for row, _ in refused], contexts)
    counters.count_steps(session, keys, FAILED, EXECUTING)
    gone = [row for row, failure in refused if failure.code in run_lifecycle.DEPARTURES]
    counters.count_steps(session, _keys(gone, contexts), counters.DEPARTED)
