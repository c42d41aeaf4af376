"""People inside a paused automation: parked, let go on, or ended with it (decision A11).

Owns due_at, held_at and delay_until of waiting visits at a resume. Statuses are not touched here:
what is due is claimed by the walker as ever. A visit's lock is taken before its run's.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Subquery,
    and_,
    case,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from engine.automations import run_lifecycle
from engine.automations.hints import SWEEP_PERIOD, hint_steps
from engine.automations.models import (
    EXECUTING,
    HOLD,
    PAUSED,
    PENDING,
    RUNNING,
    Automation,
    AutomationRun,
    AutomationStepRun,
)
from engine.automations.run_lifecycle import MOST_HINTS, RUNS, STEP_RUNS
from engine.core.db import Instant
from engine.core.db.instants import later

SHIFT: Final = "shift"
OVERDUE: Final = "overdue"
SKIP: Final = "skip"
CHOICES: Final = (SHIFT, OVERDUE, SKIP)
# How many people whose step is overdue go on in one minute (decision A11).
PER_MINUTE: Final = 60
_MINUTE: Final = timedelta(minutes=1)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True)
class Resume:
    """A resume: of which automation, since when it was paused, and who chose what.

    choice: `shift`, `overdue` or `skip`.
    """

    workspace_id: int
    automation_id: int
    on_pause: str
    paused_at: datetime
    choice: str
    actor: str


def let_go(session: Session, resume: Resume, at: datetime) -> int:
    """Let everybody who was held go on as chosen; return how many have a step due at once.

    A handful of statements, however many people are inside. An automation that cancels on pause
    holds nobody, save those it held before its rule was changed: they are due now.
    """
    if resume.on_pause != HOLD:
        if not _free(session, resume, _held(), {"due_at": at}):
            # Nobody's wait was touched: a million runs need not be written anew.
            return hint_due(session, resume.workspace_id, resume.automation_id, at)
    elif resume.choice == SHIFT:
        _shift(session, resume, at)
    elif resume.choice == OVERDUE:
        _spread(session, resume, at)
    else:
        mark = {"skip": resume.actor, "reason": OVERDUE}
        _free(session, resume, _overdue(at), {"due_at": at, "result": mark})
    set_places(session, resume.workspace_id, resume.automation_id, at)
    return hint_due(session, resume.workspace_id, resume.automation_id, at)


def count_inside(session: Session, workspace_id: int, automation_id: int) -> int:
    """Return how many people are inside, counted from the runs of this very moment."""
    running = inside(workspace_id, automation_id).subquery()
    return session.scalar(select(func.count()).select_from(running)) or 0


def inside(workspace_id: int, automation_id: int) -> Any:
    """Return the query of the running runs of an automation, by id."""
    run = AutomationRun
    return select(run.id).where(
        run.workspace_id == workspace_id,
        run.automation_id == automation_id,
        RUNS.is_(RUNNING),
    )


def cancel_inside(
    session: Session, where: Iterable[ColumnElement[bool]], reason: str, at: datetime
) -> int:
    """Cancel every running run that matches, parked visits included; return how many.

    A visit that was parked between two tries is let go: the next claim finds its run ended.
    """
    where = tuple(where)
    step = AutomationStepRun
    session.execute(
        update(step)
        .where(
            STEP_RUNS.is_(EXECUTING),
            step.held_at.is_not(None),
            step.automation_run_id.in_(select(AutomationRun.id).where(RUNS.is_(RUNNING), *where)),
        )
        .values(held_at=None, due_at=at)
        .execution_options(synchronize_session=False)
    )
    return run_lifecycle.cancel_where(session, where, reason, at)


def surely_paused(session: Session, automation_ids: Collection[int]) -> set[int]:
    """Return which automations are paused and stay so until this transaction has ended.

    For the claim, which parks: an automation that is being resumed right now is left out, so that
    nobody is parked behind the back of the resume. Waits for no lock.
    """
    row = Automation
    statement = (
        select(row.id)
        .where(row.id.in_(sorted(automation_ids)), row.status == PAUSED)
        .with_for_update(read=True, skip_locked=True)
    )
    return set(session.scalars(statement))


def set_places(session: Session, workspace_id: int, automation_id: int, at: datetime) -> None:
    """Bring next_step_at of the runs in step with their waiting visits (facts 1.1)."""
    run, step = AutomationRun, AutomationStepRun
    # Run by run: of a list, PostgreSQL joins everything with everything before its first analyze.
    of_run = (step.workspace_id == workspace_id) & (step.automation_run_id == run.id)
    waits = exists().where(of_run, STEP_RUNS.is_(PENDING))
    session.execute(
        update(run)
        .where(
            run.workspace_id == workspace_id,
            run.automation_id == automation_id,
            RUNS.is_(RUNNING),
            waits,
        )
        .values(next_step_at=waits_until(at))
        .execution_options(synchronize_session=False)
    )


def waits_until(at: datetime) -> Any:
    """Return the SQL of the instant a run waits for, or NULL, seen from a statement on runs."""
    step = AutomationStepRun
    return (
        select(func.max(step.due_at))
        .where(
            step.automation_run_id == AutomationRun.id,
            step.workspace_id == AutomationRun.workspace_id,
            STEP_RUNS.is_(PENDING),
            step.due_at > at,
        )
        .correlate(AutomationRun)
        .scalar_subquery()
    )


def hint_due(session: Session, workspace_id: int, automation_id: int, at: datetime) -> int:
    """Hint what is due before the next sweep, a bounded number; return how many are due now."""
    soon = _due(workspace_id, automation_id, at + SWEEP_PERIOD)
    first = select(soon.c.id, soon.c.due_at).order_by(soon.c.due_at, soon.c.id).limit(MOST_HINTS)
    hint_steps(session, [(row.id, row.due_at) for row in session.execute(first)], at)
    now = _due(workspace_id, automation_id, at)
    return session.scalar(select(func.count()).select_from(now)) or 0


def _due(workspace_id: int, automation_id: int, until: datetime) -> Subquery:
    """Return (id, due_at) of the visits that may be claimed up to `until`; nobody is parked.

    A branch a status and the run by EXISTS: so both databases read the indexes of what is due, of
    everybody, and not every person inside.
    """
    run, step = AutomationRun, AutomationStepRun
    inside_here = exists().where(
        run.id == step.automation_run_id,
        run.workspace_id == workspace_id,
        run.automation_id == automation_id,
        RUNS.is_(RUNNING),
    )
    due = select(step.id, step.due_at).where(
        step.workspace_id == workspace_id,
        step.held_at.is_(None),
        step.due_at <= until,
        inside_here,
    )
    again = due.where(STEP_RUNS.is_(EXECUTING), step.lease_until.is_(None))
    return union_all(due.where(STEP_RUNS.is_(PENDING)), again).subquery("due")


def _shift(session: Session, resume: Resume, at: datetime) -> None:
    """Move the waits that were still to come by the length of the pause; the rest is due now.

    A wait whose event came during the pause is over.
    """
    step = AutomationStepRun
    moved = later(session, step.due_at, (at - resume.paused_at) // _MICROSECOND)
    # Without a wait a visit is due from its birth, also if it was born during the pause.
    over = or_(
        step.due_at <= resume.paused_at,
        step.delay_until.is_(None),
        step.heard.is_not(None),
        STEP_RUNS.is_(EXECUTING),
    )
    values = {
        "due_at": case((over, literal(at, Instant())), else_=moved),
        "delay_until": case((over, step.delay_until), else_=moved),
        "result": without_skip(),
    }
    _free(session, resume, or_(STEP_RUNS.is_(PENDING), _held()), values)


def _spread(session: Session, resume: Resume, at: datetime) -> None:
    """Make what is overdue due now, sixty people a minute, the longest overdue first."""
    step = AutomationStepRun
    place = (
        func.row_number().over(
            order_by=(step.due_at, step.id),
        )
        - 1
    )
    here = _visits(resume.workspace_id, resume.automation_id)
    ranked = (
        select(step.id.label("id"), (place // PER_MINUTE).label("minute"))
        .where(*here, _overdue(at))
        .subquery("ranked")
    )
    delay = ranked.c.minute * (_MINUTE // _MICROSECOND)
    session.execute(
        update(step)
        .where(step.id == ranked.c.id, step.workspace_id == resume.workspace_id)
        .values(
            held_at=None,
            due_at=later(session, literal(at, Instant()), delay),
            result=without_skip(),
        )
        .execution_options(synchronize_session=False)
    )


def _free(
    session: Session, resume: Resume, which: ColumnElement[bool], values: dict[str, Any]
) -> int:
    """Write `values` to the visits; return how many there were."""
    freed: Any = session.execute(
        update(AutomationStepRun)
        .where(*_visits(resume.workspace_id, resume.automation_id), which)
        .values(held_at=None, **values)
        .execution_options(synchronize_session=False)
    )
    return int(freed.rowcount)


def _visits(workspace_id: int, automation_id: int) -> list[ColumnElement[bool]]:
    step = AutomationStepRun
    return [
        step.workspace_id == workspace_id,
        step.automation_run_id.in_(inside(workspace_id, automation_id)),
    ]


def _held() -> ColumnElement[bool]:
    """Return "is parked": a waiting visit, or one between two tries."""
    held = AutomationStepRun.held_at.is_not(None)
    return and_(or_(STEP_RUNS.is_(PENDING), STEP_RUNS.is_(EXECUTING)), held)


def _overdue(at: datetime) -> ColumnElement[bool]:
    return or_(and_(STEP_RUNS.is_(PENDING), AutomationStepRun.due_at <= at), _held())


def without_skip() -> Any:
    """Return the SQL of a visit's `result` without the mark of an earlier resume's "skip".

    The choice of the newest resume holds for everybody whom it finds overdue (decision A11). What
    a person wanted of this one run stays.
    """
    result = AutomationStepRun.result
    return case((result["reason"].as_string() == OVERDUE, null()), else_=result)
