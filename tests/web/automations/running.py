"""Helpers for tests of what is live: an automation with people inside, and edits of its draft."""

from typing import Any

from sqlalchemy import func, select
from werkzeug.test import TestResponse

from engine.automations import service
from engine.automations.models import AutomationRevision, AutomationRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.automations.editing import Desk, fields
from tests.web.support import Reader, Town


class Running(Desk):
    """A live automation, and somebody who answers for it in a browser."""

    def __init__(
        self, reader: Reader, uow: UnitOfWork, town: Town, clock: FixedClock, raw: dict[str, Any]
    ) -> None:
        with uow.begin() as session:
            row = making.live(session, town.workspace_id, raw, clock.now())
        super().__init__(reader, uow, town, row.public_id)
        self.clock, self.walker = clock, StepWalker(uow)

    def enter(self, count: int) -> None:
        """Let so many new people enter."""
        with self.uow.begin() as session:
            place = self.town.workspace_id
            persons = [people.contact(session, place) for _ in range(count)]
            assert making.fire(session, place, persons, self.clock.now()) == count

    def save(self, *steps: dict[str, Any], **more: Any) -> None:
        """Save another draft."""
        version = self.version()
        with self.uow.begin() as session:
            saved = service.save(
                session,
                self.town.workspace_id,
                self.public_id,
                making.document(*steps, **more),
                version,
                making.ACTOR,
                self.clock.now(),
            )
        assert isinstance(saved, service.Saved), saved

    def publish(self, **choice: str) -> TestResponse:
        """Open the page and send its form."""
        page = f"{self.page}/publish"
        form = fields(self.reader.get(page), page)
        return self.reader.post(page, {**form, **choice})

    def inside_by_revision(self) -> dict[int, int]:
        """Return how many people are inside by the number of their revision."""
        with self.uow.read() as session:
            found = session.execute(
                select(AutomationRevision.number, func.count())
                .join(AutomationRun, AutomationRun.revision_id == AutomationRevision.id)
                .where(AutomationRun.status == "running")
                .group_by(AutomationRevision.number)
            )
            return {row[0]: row[1] for row in found}
