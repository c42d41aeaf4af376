"""Hints that delivery emits."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from engine.core.effects import Effect


@dataclass(frozen=True)
class DispatchSends(Effect):
    """Look at these queued sends of one pool. due_at: not before; None means now."""

    sweep: ClassVar[str] = "sends"
    pool: str
    send_ids: tuple[int, ...]
    due_at: datetime | None = None
