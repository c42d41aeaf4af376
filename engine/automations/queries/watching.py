"""What an open page watches: how an automation stands now, in three short statements."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2s

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations.models import Automation, AutomationStepStat
from engine.automations.queries.stats import Tally, tallies
from engine.core.ids import is_public_id


@dataclass(frozen=True)
class Watched:
    """How it stands. standing: people by step key, with those steps that somebody ever came to.

    The marks say in a few characters what a page has seen: switch changes with status, revision
    and activation, draft with every edit, inside with how many are in it, counts with any figure.
    """

    status: str
    revision_id: int | None
    version: int
    draft_version: int
    paused_at: datetime | None
    activated_at: datetime | None
    tally: Tally
    standing: Mapping[str, int] = field(default_factory=dict)

    @property
    def marks(self) -> str:
        """Return switch, draft, inside and counts, with dots between."""
        instants = [at and at.isoformat() for at in (self.paused_at, self.activated_at)]
        switch = _mark(self.status, self.revision_id, self.version, *instants)
        standing = sorted((key, count) for key, count in self.standing.items() if count)
        counts = _mark(self.tally, standing)
        return f"{switch}.{self.draft_version}.{self.tally.inside}.{counts}"


def watch(session: Session, workspace_id: int, public_id: str) -> Watched | None:
    """Return how an automation stands; None when it is unknown, foreign or deleted."""
    row = Automation
    if not is_public_id(public_id):
        return None
    found = session.execute(
        select(
            row.id,
            row.status,
            row.revision_id,
            row.version,
            row.draft_version,
            row.paused_at,
            row.activated_at,
        ).where(
            row.workspace_id == workspace_id,
            row.public_id == public_id,
            row.deleted_at.is_(None),
        )
    ).first()
    if found is None:
        return None
    stat = AutomationStepStat
    counted = session.execute(
        select(stat.step_key, func.sum(stat.pending), func.sum(stat.executing))
        .where(stat.workspace_id == workspace_id, stat.automation_id == found.id)
        .group_by(stat.step_key)
    )
    standing = {key: max(0, int(p)) + max(0, int(e)) for key, p, e in counted}
    return Watched(
        found.status,
        found.revision_id,
        found.version,
        found.draft_version,
        found.paused_at,
        found.activated_at,
        tallies(session, workspace_id, [found.id])[found.id],
        standing,
    )


def _mark(*seen: object) -> str:
    return blake2s(repr(seen).encode(), digest_size=5).hexdigest()
