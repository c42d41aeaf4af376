"""What a backup still owed when it was made: mails that waited, people on their way (DECISIONS 28).

It goes on from the backup's instant, or is held back: nothing leaves then until a person says so.
"""

from datetime import datetime
from typing import Final

from sqlalchemy import select

from engine.automations import lifecycle
from engine.automations.models import ACTIVE, PAUSED, Automation
from engine.core import audit
from engine.core.db import Database
from engine.core.unit_of_work import UnitOfWork
from tasks.backup.archive import Waiting

RESTORE: Final = audit.system("restore")
# The processes of that instant are no more: their hearts, the ticks they may have claimed without
# coming to an end, and their leases, which end now instead of being awaited.
_ALWAYS: Final = (
    "DELETE FROM heartbeats",
    "DELETE FROM ticks",
    "UPDATE automation_step_runs SET due_at = {at}, lease_until = {at}"
    " WHERE lease_until IS NOT NULL AND status IN ('executing')",
    "UPDATE email_sends SET due_at = {at}, lease_until = {at}"
    " WHERE lease_until IS NOT NULL AND status IN ('queued')",
)
_HOLD: Final = (
    # As if each had been begun: the sweep ends it as OUTCOME_UNKNOWN, for a person to resolve.
    "UPDATE email_sends SET handed_over_at = {at}, lease_until = {at}, due_at = {at}"
    " WHERE status IN ('queued') AND handed_over_at IS NULL",
    # A pause on hold (decision A11), whatever the automation's own rule: nobody inside is
    # cancelled, and the resume asks what becomes of them. What is due is parked here and now.
    "UPDATE automations SET on_pause = 'hold' WHERE status IN ('active')",
    "UPDATE automation_step_runs SET held_at = {at}"
    " WHERE status IN ('pending', 'executing') AND held_at IS NULL AND due_at <= {at}",
)
_INSTANTS: Final = {
    "sqlite": "'%Y-%m-%d %H:%M:%S.%f'",
    "postgresql": "'%Y-%m-%d %H:%M:%S.%f+00'",
}


def announced(waiting: Waiting, *, hold: bool) -> list[str]:
    """Return in numbers what becomes of what was owed; nothing where nothing was."""
    if not waiting.mails and not waiting.runs:
        return []
    numbers = f"{waiting.mails} mails waited and {waiting.runs} runs were under way"
    if hold:
        return [
            f"{numbers}: none of these mails is sent, every active automation is paused on hold."
        ]
    return [
        f"{numbers}: they go on from there. Mail that left after the backup was made leaves a "
        "second time; --hold-mail holds it back."
    ]


def statements(dialect: str, at: datetime, *, hold: bool) -> list[str]:
    """Return what is done to the restored rows before anybody can see them."""
    stamp = at.strftime(_INSTANTS[dialect])
    return [line.format(at=stamp) for line in (*_ALWAYS, *(_HOLD if hold else ()))]


def pause(database: Database, at: datetime) -> int:
    """Pause every active automation; return how many. Resuming one says what its people do."""
    with UnitOfWork(database).begin() as session:
        active = session.scalars(select(Automation.id).where(Automation.status == ACTIVE)).all()
        for automation_id in active:
            lifecycle.move(session, automation_id, lifecycle.Ask(PAUSED), RESTORE, at)
    return len(active)
