"""Which step runs get a hint: those due now or before the next sweep; the sweep finds the rest."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from engine.automations.effects import WalkSteps
from engine.core.effects import CHUNK, emit

# Sweeps run every minute (interface.md).
SWEEP_PERIOD: Final = timedelta(seconds=60)


def hint_steps(session: Session, made: Sequence[tuple[int, datetime]], at: datetime) -> None:
    """Emit hints for step runs given as (id, due_at); after the commit they reach the queue."""
    by_due: dict[datetime | None, list[int]] = defaultdict(list)
    for step_run_id, due_at in made:
        if due_at <= at + SWEEP_PERIOD:
            by_due[due_at if due_at > at else None].append(step_run_id)
    for due, ids in by_due.items():
        for start in range(0, len(ids), CHUNK):
            emit(session, WalkSteps(tuple(ids[start : start + CHUNK]), due))
