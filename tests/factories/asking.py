"""Requests for tests: somebody who may not asks somebody who may."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import PENDING, Approval
from engine.automations import service
from engine.automations.models import Automation, AutomationRevision
from engine.automations.service import requesting
from engine.automations.service.requesting import ACTIVATE, Granted, Request
from engine.core.audit import Actor, AuditEntry
from engine.core.clock import FixedClock
from engine.core.ids import new_public_id
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.world import World

EDITOR: Final = Actor("user:editor")
ADMIN: Final = Actor("user:admin")


def draft(session: Session, workspace_id: int, raw: dict[str, Any], at: datetime) -> str:
    """Return the public id of a new draft."""
    saved = service.create(session, workspace_id, raw, make.ACTOR, at)
    assert isinstance(saved, service.Saved), saved
    return saved.public_id


def change(
    session: Session, workspace_id: int, public_id: str, raw: dict[str, Any], at: datetime
) -> None:
    """Replace the draft of an automation."""
    seen = service.current(session, workspace_id, public_id)
    assert seen is not None
    saved = service.save(session, workspace_id, public_id, raw, seen.version, make.ACTOR, at)
    assert isinstance(saved, service.Saved), saved


def ask(
    session: Session,
    workspace_id: int,
    public_id: str,
    at: datetime,
    kind: str = ACTIVATE,
    actor: Actor = EDITOR,
    **more: Any,
) -> str:
    """Return the public id of a request that was taken."""
    wanted = Request(kind, **more)
    asked = requesting.ask_for(session, workspace_id, public_id, wanted, actor, at)
    assert isinstance(asked, str), asked
    return asked


def stored(session: Session, workspace_id: int, status: str, at: datetime) -> Approval:
    """Return a request in a status about nothing in particular; decided at `at` unless pending."""
    over = status != PENDING
    row = Approval(
        public_id=new_public_id(),
        workspace_id=workspace_id,
        kind=ACTIVATE,
        resource="automation",
        resource_id=new_public_id(),
        wanted={},
        content_hash="0" * 64,
        status=status,
        asked_by=EDITOR.name,
        asked_at=at,
        decided_by=ADMIN.name if over else None,
        decided_at=at if over else None,
    )
    session.add(row)
    session.flush()
    return row


def row_of(session: Session, public_id: str) -> Approval:
    """Return a request as it is stored."""
    return session.scalars(select(Approval).where(Approval.public_id == public_id)).one()


class Office:
    """A workspace in which an editor asks and an admin answers."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.world = World(uow, clock)
        self.uow, self.clock, self.workspace_id = uow, clock, self.world.workspace_id

    def draft(self, *steps: dict[str, Any]) -> str:
        with self.uow.begin() as session:
            raw = make.document(*(steps or (make.delay("wait"),)))
            return draft(session, self.workspace_id, raw, self.clock.now())

    def changed(self, *steps: dict[str, Any]) -> str:
        """Return a live automation whose draft differs: it has these steps."""
        public_id = self.world.live(make.delay("wait", 5)).public_id
        self.change(public_id, *(steps or (make.delay("wait", 1),)))
        return public_id

    def change(self, public_id: str, *steps: dict[str, Any]) -> None:
        with self.uow.begin() as session:
            raw = make.document(*steps)
            change(session, self.workspace_id, public_id, raw, self.clock.now())

    def ask(self, public_id: str, kind: str = ACTIVATE, **more: Any) -> str:
        with self.uow.begin() as session:
            return ask(session, self.workspace_id, public_id, self.clock.now(), kind, **more)

    def refused(self, public_id: str, kind: str = ACTIVATE, **more: Any) -> Refused:
        """Return why a request is not taken."""
        place, at = self.workspace_id, self.clock.now()
        with self.uow.begin() as session:
            wanted = Request(kind, **more)
            found = requesting.ask_for(session, place, public_id, wanted, EDITOR, at)
        assert isinstance(found, Refused), found
        return found

    def grant(
        self, request: str, answer: str | None = None, by: Actor = ADMIN
    ) -> Granted | Refused:
        with self.uow.begin() as session:
            return requesting.grant(
                session, self.workspace_id, request, answer, by, self.clock.now()
            )

    def deny(self, request: str, answer: str | None = None, by: Actor = ADMIN) -> Any:
        with self.uow.begin() as session:
            return requesting.deny(
                session, self.workspace_id, request, answer, by, self.clock.now()
            )

    def withdraw(self, request: str, by: Actor = EDITOR) -> Any:
        with self.uow.begin() as session:
            return requesting.withdraw(session, self.workspace_id, request, by, self.clock.now())

    def row(self, request: str) -> Approval:
        with self.uow.read() as session:
            return row_of(session, request)

    def automation(self, public_id: str) -> Automation:
        with self.uow.read() as session:
            return session.scalars(
                select(Automation).where(Automation.public_id == public_id)
            ).one()

    def revisions(self) -> int:
        with self.uow.read() as session:
            return len(session.scalars(select(AutomationRevision.id)).all())

    def lines(self, resource_id: str) -> list[tuple[str, str]]:
        """Return (action, actor) of the audit lines about a thing."""
        entry = AuditEntry
        with self.uow.read() as session:
            found = session.execute(
                select(entry.action, entry.actor)
                .where(entry.resource_id == resource_id)
                .order_by(entry.id)
            )
            return [(action, actor) for action, actor in found]

    def details(self, request: str, action: str) -> dict[str, Any]:
        entry = AuditEntry
        with self.uow.read() as session:
            return dict(
                session.scalars(
                    select(entry.details).where(
                        entry.resource_id == request, entry.action == action
                    )
                ).one()
            )
