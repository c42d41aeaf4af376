"""Figures of automations, read from their counters: no page counts runs (facts 1.12, 1.15)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.kinds.steps import STEPS
from engine.automations.models import (
    DRAFT,
    RUNNING,
    Automation,
    AutomationRevision,
    AutomationRun,
    AutomationStatShard,
    AutomationStepStat,
)
from engine.automations.service import draft_document
from engine.core.db import JsonObject
from engine.core.ids import is_public_id

# Above so many people inside, nobody counts who becomes due.
MOST_WAITING: Final = 10_000
# How far back the names of steps are looked for that the revision in force no longer has.
OLDER_REVISIONS: Final = 50


@dataclass(frozen=True)
class Tally:
    """How many people entered, are inside, finished and ended early."""

    entered: int = 0
    inside: int = 0
    finished: int = 0
    cancelled: int = 0


@dataclass(frozen=True)
class StepFigures:
    """Visits to one step by status. type: '' where no revision looked at knows the key any more.

    passed: of the skipped, who stood here and was passed on. departed: of the failed, whose run
    ended around them while nothing went wrong here.
    """

    key: str
    type: str
    pending: int = 0
    executing: int = 0
    completed: int = 0
    failed: int = 0
    skipped: int = 0
    passed: int = 0
    departed: int = 0

    @property
    def total(self) -> int:
        """Return all visits."""
        return self.pending + self.executing + self.completed + self.failed + self.skipped

    @property
    def entered(self) -> int:
        """Return the visits of people who really came here: all but those who were led past."""
        return self.total - self.detoured

    @property
    def detoured(self) -> int:
        """Return how many took a way that leads past this step; they never stood here."""
        return max(0, self.skipped - self.passed)

    @property
    def faults(self) -> int:
        """Return the visits in which something went wrong here."""
        return max(0, self.failed - self.departed)

    @property
    def standing(self) -> int:
        """Return how many people stand here now."""
        return self.pending + self.executing

    @property
    def sends(self) -> bool:
        """Return whether a completed visit is a mail (facts 1.15)."""
        return self.type in STEPS and STEPS.get(self.type).sends


@dataclass(frozen=True)
class Figures:
    """The figures of one automation (facts 1.15): runs, and visits by step.

    steps: in the order of the document in force, then those that only older revisions had.
    """

    tally: Tally
    steps: tuple[StepFigures, ...]

    @property
    def cancelled(self) -> int:
        """Return how many ended early, by what is left of those who entered."""
        return max(0, self.tally.entered - self.tally.inside - self.tally.finished)

    @property
    def emails_sent(self) -> int:
        """Return the completed visits to steps that send."""
        return sum(step.completed for step in self.steps if step.sends)

    @property
    def completion_rate(self) -> float:
        """Return finished per hundred entered, with one decimal; 0 when nobody entered."""
        if not self.tally.entered:
            return 0.0
        return round(self.tally.finished / self.tally.entered * 100, 1)


def tallies(
    session: Session, workspace_id: int, automation_ids: Collection[int]
) -> Mapping[int, Tally]:
    """Return the counts of some automations by row id, in one statement over their shards."""
    row = AutomationStatShard
    found = session.execute(
        select(
            row.automation_id,
            func.sum(row.entered),
            func.sum(row.completed),
            func.sum(row.cancelled),
        )
        .where(row.workspace_id == workspace_id, row.automation_id.in_(automation_ids))
        .group_by(row.automation_id)
    )
    counted = {
        automation_id: _tally(int(entered), int(completed), int(cancelled))
        for automation_id, entered, completed, cancelled in found
    }
    return dict.fromkeys(automation_ids, Tally()) | counted


def waiting_until(
    session: Session, workspace_id: int, automation_id: int, until: datetime
) -> int | None:
    """Return how many people inside become due up to `until`; None above MOST_WAITING inside.

    Reads no more runs than that, so the dialog that asks stays quick.
    """
    run = AutomationRun
    inside = (
        select(func.coalesce(run.next_step_at, run.started_at).label("due"))
        .where(
            run.workspace_id == workspace_id,
            run.automation_id == automation_id,
            run.status == RUNNING,
        )
        .limit(MOST_WAITING + 1)
        .subquery()
    )
    due = func.count().filter(inside.c.due <= until)
    looked_at, found = session.execute(select(func.count(), due).select_from(inside)).one()
    return found if looked_at <= MOST_WAITING else None


def figures(session: Session, workspace_id: int, public_id: str) -> Figures | None:
    """Return the figures of one automation; None when it is unknown, foreign or deleted."""
    if not is_public_id(public_id):
        return None
    row = session.scalar(
        select(Automation).where(
            Automation.workspace_id == workspace_id,
            Automation.public_id == public_id,
            Automation.deleted_at.is_(None),
        )
    )
    if row is None:
        return None
    content = None if row.status == DRAFT else _in_force(session, row)
    return figures_of(session, workspace_id, row.id, content or draft_document(session, row))


def figures_of(
    session: Session, workspace_id: int, automation_id: int, document: JsonObject
) -> Figures:
    """Return the figures of one automation whose document in force the caller has."""
    counted = _step_counts(session, workspace_id, automation_id)
    types = {step["key"]: step["type"] for step in document["steps"]}
    gone = counted.keys() - types.keys()
    if gone:
        types |= _older(session, workspace_id, automation_id, gone)
    steps = tuple(StepFigures(key, kind, **counted.get(key, {})) for key, kind in types.items())
    return Figures(tallies(session, workspace_id, [automation_id])[automation_id], steps)


def _tally(entered: int, completed: int, cancelled: int) -> Tally:
    return Tally(entered, max(0, entered - completed - cancelled), completed, cancelled)


_COUNTED: Final = (
    "pending",
    "executing",
    "completed",
    "failed",
    "skipped",
    "passed",
    "departed",
)


def _step_counts(
    session: Session, workspace_id: int, automation_id: int
) -> Mapping[str, Mapping[str, int]]:
    row = AutomationStepStat
    sums: list[Any] = [func.sum(getattr(row, name)) for name in _COUNTED]
    found = session.execute(
        select(row.step_key, *sums)
        .where(row.workspace_id == workspace_id, row.automation_id == automation_id)
        .group_by(row.step_key)
    )
    return {
        key: {name: max(0, int(number)) for name, number in zip(_COUNTED, numbers, strict=True)}
        for key, *numbers in found
    }


def _in_force(session: Session, row: Automation) -> JsonObject | None:
    revision = AutomationRevision
    return session.scalar(
        select(revision.document).where(
            revision.workspace_id == row.workspace_id, revision.id == row.revision_id
        )
    )


def _older(
    session: Session, workspace_id: int, automation_id: int, keys: Collection[str]
) -> Mapping[str, str]:
    """Return the types of keys that only older revisions had, the newest such revision first."""
    revision = AutomationRevision
    documents: Sequence[JsonObject] = session.scalars(
        select(revision.document)
        .where(revision.workspace_id == workspace_id, revision.automation_id == automation_id)
        .order_by(revision.id.desc())
        .limit(OLDER_REVISIONS)
    ).all()
    found: dict[str, str] = {}
    for document in documents:
        for step in document["steps"]:
            if step["key"] in keys:
                found.setdefault(step["key"], step["type"])
    return found | dict.fromkeys(sorted(keys - found.keys()), "")
