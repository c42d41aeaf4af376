"""What a claimed send needs for its message, loaded set-wise in the claim's transaction.

Who was blocked or opted out since the mail was queued shows here, just before it would leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.audience.models import UNENGAGED
from engine.delivery.compose.letter import Envelope
from engine.delivery.compose.render import Compiled, Flaw, MailData, TemplateCache
from engine.delivery.links import Links
from engine.delivery.models import SERVICE
from engine.delivery.queries import facts
from engine.delivery.queries.limits import KIND_TEST
from engine.delivery.walk_lifecycle import Claimed


@dataclass(frozen=True)
class SendItem:
    """A claimed send. template None: it has none; gone: its contact was deleted meanwhile.

    suppressed: its address is blocked for mail of its purpose; unsubscribed: its contact opted out
    of marketing, which it is (decision A4). A test mail goes to a colleague, as a contact would
    read it: that contact's opt-out says nothing, and its way out must not be in there.
    """

    id: int
    lease_until: datetime
    held: Claimed
    envelope: Envelope
    subject_override: str | None
    template: Compiled | Flaw | None
    data: MailData
    gone: bool
    suppressed: bool
    unsubscribed: bool


def load(
    session: Session, rows: Sequence[Any], templates: TemplateCache, links: Links
) -> list[SendItem]:
    """Return the items of claimed rows, in the order they became due."""
    people = facts.people(session, {row.contact_id for row in rows if row.contact_id is not None})
    workspaces = facts.workspace_variables(session, {row.workspace_id for row in rows})
    compiled = _templates(session, {row.template_id for row in rows if row.template_id}, templates)
    blocked = audience.suppressed(session, {_address(row) for row in rows})
    items = []
    for row in sorted(rows, key=lambda each: int(each.id)):
        person, workspace = people.get(row.contact_id), workspaces[row.workspace_id]
        marketing = row.purpose != SERVICE
        reason = blocked.get(_address(row))
        own = person is not None and row.kind != KIND_TEST
        unsubscribe_url = (
            links.unsubscribe(workspace["id"], person.contact["id"], row.public_id)
            if person is not None and own
            else None
        )
        data = MailData(
            contact=person.contact if person else {"email": row.to_email},
            properties=person.properties if person else {},
            workspace=workspace,
            context=row.context or {},
            links={"unsubscribe_url": unsubscribe_url or _shown(row, links)},
        )
        items.append(
            SendItem(
                id=row.id,
                lease_until=row.lease_until,
                held=Claimed(row.workspace_id, row.id, row.attempt),
                envelope=Envelope(
                    row.public_id,
                    row.to_email,
                    row.from_email,
                    row.from_name,
                    row.reply_to,
                    unsubscribe_url if marketing else None,
                ),
                subject_override=row.subject_override,
                template=compiled.get(row.template_id),
                data=data,
                gone=person is not None and person.gone,
                suppressed=reason is not None and (marketing or reason != UNENGAGED),
                unsubscribed=marketing and own and person is not None and person.unsubscribed,
            )
        )
    return items


def _shown(row: Any, links: Links) -> str:
    """Return the way out where there is no own one; in a test mail it ends nothing."""
    return links.unsubscribe_preview() if row.kind == KIND_TEST else ""


def _address(row: Any) -> tuple[int, str]:
    return row.workspace_id, audience.suppression_key(row.to_email)


def _templates(
    session: Session, template_ids: set[int], kept: TemplateCache
) -> dict[int | None, Compiled | Flaw]:
    """Return parsed templates by row id; only texts that are not kept yet are loaded."""
    versions = facts.template_versions(session, template_ids) if template_ids else {}
    found: dict[int | None, Compiled | Flaw] = {}
    for key in versions.items():
        compiled = kept.get(key)
        if compiled is not None:
            found[key[0]] = compiled
    unknown = set(versions) - set(found)
    for key, source in facts.template_sources(session, unknown).items():
        found[key[0]] = kept.put(key, source)
    return found
