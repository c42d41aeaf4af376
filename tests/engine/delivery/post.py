"""A workspace ready to send, with its walker on a scripted transport."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import service, walk_lifecycle
from engine.delivery.models import POOL_TRANSACTIONAL, EmailSend
from engine.delivery.walker import SendWalker
from tests.factories import delivery
from tests.fakes.transports import ScriptedTransport

POOL: Final = POOL_TRANSACTIONAL


@dataclass
class Post:
    """A workspace with a template, its walker and its transport."""

    uow: UnitOfWork
    clock: FixedClock
    transport: ScriptedTransport
    walker: SendWalker
    workspace: int
    template: int

    def queue(self, count: int = 1, **given: Any) -> list[int]:
        """Queue mails and return their rows."""
        given = {"template_id": self.template, **given}
        with self.uow.begin() as session:
            requests = [delivery.request(self.workspace, **given) for _ in range(count)]
            ids = service.enqueue_many(session, requests, self.clock.now())
        return [ids[each.dedupe_key] for each in requests]

    def walk(self, ids: list[int] | None = None) -> dict[str, int]:
        """Walk once and return what happened."""
        return dict(self.walker.walk(POOL, ids))

    def send(self, row_id: int) -> EmailSend:
        """Return a send as it is stored."""
        with self.uow.read() as session:
            return session.scalars(select(EmailSend).where(EmailSend.id == row_id)).one()

    def claim(self, row_id: int) -> None:
        """Claim a send as a worker that then vanishes."""
        with self.uow.begin() as session:
            now = self.clock.now()
            assert walk_lifecycle.claim(session, POOL, [row_id], 1, now)
