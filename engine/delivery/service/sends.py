"""Queueing mail: the only place that creates sends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Integer, String, Text, select, tuple_
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from engine.core.db import Id, Instant, always, batch_table, json_type, upsert
from engine.core.ids import new_public_id
from engine.core.machine import born
from engine.delivery.lifecycle import SENDS
from engine.delivery.models import (
    MARKETING,
    POOL_TRANSACTIONAL,
    QUEUED,
    SERVICE,
    EmailSend,
)
from engine.delivery.walk_lifecycle import hint


@dataclass(frozen=True)
class SendRequest:
    """One mail to queue. dedupe_key: unique in the workspace; the same key again is the same send.

    kind: campaign, automation, transactional, agent or test. contact_id, template_id: row ids.
    subject_override: Liquid, in place of the template's subject. context: what the template reads
    beside the contact, for example `{"event": {…}}`. due_at None: at once. purpose: marketing or
    service, None means marketing; allow_repeat: the template's, None means its purpose decides
    (decisions A4, A17).
    """

    workspace_id: int
    dedupe_key: str
    kind: str
    contact_id: int | None
    template_id: int | None
    to_email: str
    from_email: str
    from_name: str = ""
    reply_to: str | None = None
    subject_override: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    pool: str = POOL_TRANSACTIONAL
    campaign_id: int | None = None
    ab_variant: str | None = None
    due_at: datetime | None = None
    purpose: str | None = None
    allow_repeat: bool | None = None

    @property
    def marketing(self) -> bool:
        """Whether the mail counts as marketing: all but what is said to be service."""
        return self.purpose != SERVICE


_COLUMNS: Final[Mapping[str, TypeEngine[Any]]] = {
    "public_id": String(),
    "workspace_id": Id,
    "kind": String(),
    "pool": String(),
    "purpose": String(),
    "campaign_id": Id,
    "contact_id": Id,
    "template_id": Id,
    "subject_override": Text(),
    "context": json_type(),
    "to_email": String(),
    "from_email": String(),
    "from_name": String(),
    "reply_to": String(),
    "attempt": Integer(),
    "dedupe_key": String(),
    "ab_variant": String(),
    "queued_at": Instant(),
    "due_at": Instant(),
}


def enqueue_many(
    session: Session, requests: Sequence[SendRequest], at: datetime
) -> Mapping[str, int]:
    """Queue mail in one statement and return the send's row id by dedupe key, for every key.

    A key that is already there answers its row and queues nothing. Dedupe keys of one batch are
    unique over all its workspaces. The hint leaves after the commit.
    """
    wanted: dict[str, SendRequest] = {}
    for request in requests:
        wanted.setdefault(request.dedupe_key, request)
    if not wanted:
        return {}
    if any(wanted[each.dedupe_key].workspace_id != each.workspace_id for each in requests):
        raise ValueError("a dedupe key of one batch stands in two workspaces")
    status = born(SENDS, QUEUED)
    columns = {**_COLUMNS, **{name: String() for name in status}}
    rows = [{**_new_row(request, at), **status} for request in wanted.values()]
    source = batch_table(session, columns, rows).select().where(always())
    created = session.execute(
        upsert(session, EmailSend)
        .from_select(list(columns), source)
        .on_conflict_do_nothing(index_elements=["workspace_id", "dedupe_key"])
        .returning(EmailSend.dedupe_key, EmailSend.id)
    )
    ids: dict[str, int] = dict(created.all())
    for pool, due_at in sorted({(wanted[key].pool, wanted[key].due_at or at) for key in ids}):
        same = [
            row_id
            for key, row_id in ids.items()
            if wanted[key].pool == pool and (wanted[key].due_at or at) == due_at
        ]
        hint(session, pool, same, due_at, at)
    return ids | queued_already(session, [wanted[key] for key in wanted if key not in ids])


def _new_row(request: SendRequest, at: datetime) -> dict[str, Any]:
    same = {name: getattr(request, name, None) for name in _COLUMNS}
    return {
        **same,
        "public_id": new_public_id(),
        "purpose": request.purpose or MARKETING,
        "context": dict(request.context),
        "attempt": 0,
        "queued_at": at,
        "due_at": request.due_at or at,
    }


def queued_already(session: Session, requests: Sequence[SendRequest]) -> dict[str, int]:
    """Return the row ids of requests whose key has a send, by dedupe key; one statement."""
    if not requests:
        return {}
    found = session.execute(
        select(EmailSend.dedupe_key, EmailSend.id).where(
            tuple_(EmailSend.workspace_id, EmailSend.dedupe_key).in_(
                [(request.workspace_id, request.dedupe_key) for request in requests]
            )
        )
    )
    return dict(found.all())
