"""Figures of the whole installation, read from the rows on every scrape: they are true in each
process, and nobody has to add up what workers count. Every count is bounded, so that a scrape
stays cheap however much waits."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import ColumnElement, Select, func, literal_column, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from engine.automations.models import (
    CANCELLED,
    COMPLETED,
    PENDING,
    RUN_STATUSES,
    RUNNING,
    AutomationStatShard,
    AutomationStepRun,
)
from engine.core.ticks import Heartbeat
from engine.delivery.models import QUEUED, EmailSend

# A figure that reaches this reads as "this many or more".
MOST: Final = 10_000


def read(session: Session, at: datetime) -> Iterator[Metric]:
    """Yield the gauges; nothing in them names a person or a workspace."""
    yield _runs(session)
    due = select(AutomationStepRun.id).where(
        _is(AutomationStepRun.status, PENDING),
        AutomationStepRun.held_at.is_(None),
        AutomationStepRun.due_at <= at,
    )
    yield _bounded(session, "stellwerk_step_runs_due", "Steps due and not taken", due)
    queued = select(EmailSend.id).where(_is(EmailSend.status, QUEUED))
    yield _bounded(session, "stellwerk_sends_queued", "Mails that wait", queued)
    yield _heartbeats(session, at)


def _is(column: InstrumentedAttribute[str], status: str) -> ColumnElement[bool]:
    # Spelt out: SQLite uses a partial index only where the statement itself bears its condition.
    return column == literal_column(f"'{status}'")


def _runs(session: Session) -> Metric:
    """Return runs by status as the engine's counters have them: no run is read."""
    shard = AutomationStatShard
    columns = (shard.entered, shard.completed, shard.cancelled)
    sums = session.execute(select(*(func.coalesce(func.sum(each), 0) for each in columns)))
    entered, completed, cancelled = map(int, sums.one())
    found = {
        RUNNING: max(0, entered - completed - cancelled),
        COMPLETED: completed,
        CANCELLED: cancelled,
    }
    gauge = GaugeMetricFamily("stellwerk_runs", "Runs by status", labels=["status"])
    for status in RUN_STATUSES:
        gauge.add_metric([status], found[status])
    return gauge


def _bounded(session: Session, name: str, words: str, rows: Select[int]) -> Metric:
    counted = select(func.count()).select_from(rows.limit(MOST).subquery())
    return GaugeMetricFamily(name, f"{words}, at most {MOST}", session.scalar(counted) or 0)


def _heartbeats(session: Session, at: datetime) -> Metric:
    ages = GaugeMetricFamily(
        "stellwerk_heartbeat_age_seconds", "Since a process of this role was seen", labels=["role"]
    )
    newest = select(Heartbeat.role, func.max(Heartbeat.seen_at)).group_by(Heartbeat.role)
    for role, seen_at in session.execute(newest):
        ages.add_metric([role], max(0.0, (at - seen_at).total_seconds()))
    return ages
