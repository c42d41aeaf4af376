"""People who keep coming while workers die: posts one event each, whatever happens meanwhile."""

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.exc import InterfaceError, OperationalError

from engine.audience.queries import ContactRow
from engine.automations.models import AutomationRun, AutomationStepRun
from engine.core import clock
from engine.delivery.models import EmailSend
from engine.house import House
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make

_BATCH: Final = 20


class Tide:
    """One run for each of `people`, begun over `seconds` in a thread of its own."""

    def __init__(self, house: House, runs: int, seconds: float) -> None:
        self._house = house
        self._over = threading.Event()
        self._pause = seconds * _BATCH / runs
        at = clock.now() - timedelta(hours=1)
        with house.runtime.uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            template = delivery.template(session, self.workspace, allow_repeat=True).public_id
            self._live(session, template, at)
        self.people = self._many(runs)
        self.thread = threading.Thread(target=self._run, name="Tide", daemon=True)

    def _live(self, session: object, template: str, at: datetime) -> None:
        """Mail, a short wait, a branch, mail."""
        steps = (
            make.email("one", template),
            make.delay("wait", 0.5, "minutes"),
            make.branch("ask", yes="two", no=None),
            make.delay("more", 0.1, "minutes"),
            make.email("two", template),
        )
        make.live(session, self.workspace, make.document(*steps), at)  # type: ignore[arg-type]

    def _many(self, runs: int) -> Sequence[ContactRow]:
        people: list[ContactRow] = []
        while len(people) < runs:
            with self._house.runtime.uow.begin() as session:
                people += [
                    audience.contact(session, self.workspace, first_name=name)
                    for name in ("Ada", "Bob") * 50
                ]
        return people[:runs]

    def _run(self) -> None:
        for start in range(0, len(self.people), _BATCH):
            self._post(self.people[start : start + _BATCH])
            self._over.wait(self._pause)

    def _post(self, people: Sequence[ContactRow]) -> None:
        """Post until it is known that everybody's run is there; a lost answer is looked up."""
        while not self._over.is_set():
            try:
                with self._house.runtime.uow.begin() as session:
                    found = session.scalars(
                        select(AutomationRun.contact_id).where(
                            AutomationRun.contact_id.in_([person.row_id for person in people])
                        )
                    )
                    there = set(found)
                    missing = [person for person in people if person.row_id not in there]
                    make.fire(session, self.workspace, missing, clock.now())
            except (OperationalError, InterfaceError):
                self._over.wait(0.2)
            else:
                return

    def posted(self) -> bool:
        """Return whether everybody has come."""
        return not self.thread.is_alive()

    def busy(self) -> bool:
        """Return whether a worker holds a step or a mail at this moment."""
        held = [
            select(row.id).where(row.status == status, row.lease_until.is_not(None)).exists()
            for row, status in ((AutomationStepRun, "executing"), (EmailSend, "queued"))
        ]
        try:
            with self._house.runtime.uow.read() as session:
                return bool(session.scalar(select(or_(*held))))
        except (OperationalError, InterfaceError):
            return False

    def stop(self) -> None:
        """Let nobody come any more."""
        self._over.set()
