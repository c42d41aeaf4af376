"""The subjects of many mails at once, for lists that show no message."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.delivery.models import SentMessage


def subjects(session: Session, workspace_id: int, send_row_ids: Collection[int]) -> dict[int, str]:
    """Return the subjects as sent by send row; mails not handed over yet are left out."""
    if not send_row_ids:
        return {}
    message = SentMessage
    found = session.execute(
        select(message.send_id, message.subject).where(
            message.workspace_id == workspace_id, message.send_id.in_(send_row_ids)
        )
    )
    return {send_id: subject for send_id, subject in found}  # noqa: C416 - rows, not pairs
