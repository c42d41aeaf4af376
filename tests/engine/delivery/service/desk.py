"""A workspace with one person and one template, and the question whether mail may go."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from engine.accounts.models import Workspace
from engine.audience.models import Contact, Suppression
from engine.audience.queries import ContactRow
from engine.core.ids import new_public_id
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import MARKETING, SENT, EmailSend
from engine.delivery.queries import TemplateRow
from engine.delivery.service import Queued, SendRequest, Withheld, request_many
from tests.factories import accounts, audience, delivery

AT = accounts.AT


class Desk:
    """A workspace with one person and one template, and the question that is asked."""

    def __init__(self, uow: UnitOfWork) -> None:
        self.uow = uow
        with uow.begin() as session:
            self.workspace = accounts.workspace(session).id
            self.kim: ContactRow = audience.contact(
                session, self.workspace, "kim@people.example", timezone="America/New_York"
            )
            self.template: TemplateRow = delivery.template(session, self.workspace)
            self.other: TemplateRow = delivery.template(session, self.workspace, name="Other")

    def mail(self, **given: Any) -> SendRequest:
        fixed = {
            "contact_id": self.kim.row_id,
            "template_id": self.template.row_id,
            "to_email": "kim@people.example",
            "purpose": MARKETING,
        }
        return delivery.request(self.workspace, **{**fixed, **given})

    def ask(self, *requests: SendRequest, at: datetime = AT) -> list[str | None]:
        """Return why each was withheld, None for what was queued."""
        with self.uow.begin() as session:
            return why(request_many(session, requests, at), requests)

    def allow(self, **columns: Any) -> None:
        with self.uow.begin() as session:
            session.execute(update(Workspace).values(mails_per_day=None).values(**columns))

    def change(self, **columns: Any) -> None:
        with self.uow.begin() as session:
            session.execute(update(Contact).values(**columns))

    def suppress(self, reason: str, email: str = "kim@people.example") -> None:
        with self.uow.begin() as session:
            suppress(session, self.workspace, email, reason)

    def sent(self, **columns: Any) -> None:
        fixed = {
            "contact_id": self.kim.row_id,
            "template_id": self.template.row_id,
            "purpose": MARKETING,
            "queued_at": AT - timedelta(hours=1),
        }
        with self.uow.begin() as session:
            delivery.send(session, self.workspace, **{"status": SENT, **fixed, **columns})

    def count(self) -> int:
        with self.uow.read() as session:
            return session.scalar(select(func.count()).select_from(EmailSend)) or 0


def why(
    answers: Mapping[str, Queued | Withheld], requests: Sequence[SendRequest]
) -> list[str | None]:
    found = [answers[request.dedupe_key] for request in requests]
    return [answer.reason if isinstance(answer, Withheld) else None for answer in found]


def suppress(session: Session, workspace_id: int, email: str, reason: str) -> None:
    columns = {"public_id": new_public_id(), "source": "operator", "created_at": AT}
    session.add(Suppression(workspace_id=workspace_id, email=email, reason=reason, **columns))
