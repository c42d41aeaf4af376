"""Thin tasks of delivery: one engine call each."""

from collections.abc import Sequence
from typing import Final

from engine.house import House
from tasks.queue import TaskKind


def dispatch_sends(house: House, pool: str, send_ids: Sequence[int]) -> None:
    """Look at these queued sends of one pool now."""
    house.sends.walk(pool, send_ids)


DISPATCH_SENDS: Final = TaskKind("delivery.dispatch_sends", dispatch_sends)
