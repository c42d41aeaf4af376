"""Queueing mail: the only place that creates sends."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Executable,
    String,
    Text,
    bindparam,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.orm import Session

from engine.core.db import (
    Columns,
    Id,
    Instant,
    Prepared,
    always,
    json_type,
    packed,
    rows_table,
    table_of,
    upsert_of,
)
from engine.core.ids import new_public_ids
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

# A plain dict: it is written as JSON.
NO_CONTEXT: Final[Mapping[str, Any]] = {}


class SendRequest(NamedTuple):
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
    context: Mapping[str, Any] = NO_CONTEXT
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


# What differs from mail to mail; a key that a row leaves out is NULL.
_COLUMNS: Final[Columns] = {
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
    "dedupe_key": String(),
    "ab_variant": String(),
    "due_at": Instant(),
}
_OPTIONAL: Final = ("campaign_id", "subject_override", "reply_to", "ab_variant", "due_at")


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
    public_ids = new_public_ids(len(wanted))
    rows = [_new_row(each, key) for each, key in zip(wanted.values(), public_ids, strict=True)]
    created = _ENQUEUE.run(session, rows=packed(session, rows), at=at)
    ids: dict[str, int] = dict(created.all())
    for pool, due_at in sorted({(wanted[key].pool, wanted[key].due_at or at) for key in ids}):
        same = [
            row_id
            for key, row_id in ids.items()
            if wanted[key].pool == pool and (wanted[key].due_at or at) == due_at
        ]
        hint(session, pool, same, due_at, at)
    return ids | queued_already(session, [wanted[key] for key in wanted if key not in ids])


def _new_row(request: SendRequest, public_id: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "public_id": public_id,
        "workspace_id": request.workspace_id,
        "kind": request.kind,
        "pool": request.pool,
        "purpose": request.purpose or MARKETING,
        "contact_id": request.contact_id,
        "template_id": request.template_id,
        "context": request.context,
        "to_email": request.to_email,
        "from_email": request.from_email,
        "from_name": request.from_name,
        "dedupe_key": request.dedupe_key,
    }
    for name in _OPTIONAL:
        value = getattr(request, name)
        if value is not None:
            row[name] = value
    return row


def _prepare_enqueue(dialect: str) -> Executable:
    row = table_of(EmailSend).c
    rows, at = rows_table(dialect, _COLUMNS), bindparam("at", type_=Instant())
    status = {name: literal(value) for name, value in born(SENDS, QUEUED).items()}
    values = {**rows.c, "due_at": func.coalesce(rows.c.due_at, at), "queued_at": at, **status}
    columns = {**values, "attempt": literal_column("0")}
    return (
        upsert_of(dialect, table_of(EmailSend))
        .from_select(list(columns), select(*columns.values()).where(always()))
        .on_conflict_do_nothing(index_elements=["workspace_id", "dedupe_key"])
        .returning(row.dedupe_key, row.id)
    )


_ENQUEUE: Final = Prepared(_prepare_enqueue)


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
