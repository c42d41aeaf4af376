"""What the tests of retention and purge share: counting, totals, a mail with its message."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.models import (
    AutomationStatShard,
    AutomationStepStat,
)
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import SENT, EmailSend, SentMessage
from tests.factories import delivery
from tests.factories.world import World

DAYS = 30


def count(uow: UnitOfWork, row: Any) -> int:
    """Return how many rows a table has."""
    with uow.read() as session:
        return session.scalar(select(func.count()).select_from(row)) or 0


def totals(uow: UnitOfWork) -> list[Any]:
    """Return every sum of the counters."""
    with uow.read() as session:
        shard, step = AutomationStatShard, AutomationStepStat
        sums = [shard.entered, shard.completed, shard.cancelled]
        more = [step.pending, step.completed, step.failed, step.skipped]
        return [
            *session.execute(select(*map(func.sum, sums))).one(),
            *session.execute(select(*map(func.sum, more))).one(),
        ]


def sent(session: Session, world: World, contact_id: int | None, status: str = SENT) -> EmailSend:
    """Return a mail of now with its message."""
    row = delivery.send(
        session, world.workspace_id, status, contact_id=contact_id, queued_at=world.clock.now()
    )
    session.add(
        SentMessage(
            workspace_id=world.workspace_id, send_id=row.id, subject="s", html="h", text="t",
            headers="", created_at=world.clock.now(),
        )
    )  # fmt: skip
    session.flush()
    return row
