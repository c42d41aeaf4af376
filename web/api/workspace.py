"""The key's own workspace by API: its settings and limits."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from engine.accounts import queries, service
from engine.accounts.queries import WorkspaceSettings
from engine.accounts.service import Limits
from engine.core.outcome import Refused
from web.api.answers import etag
from web.api.area import Area
from web.api.door import Answer, Call, Result
from web.api.fields import In, Out, ShortText, example, one_of, shown
from web.workspace.messages import WORDS

area: Final = Area("workspace", "The settings of the key's own workspace.", WORDS)
Hour = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]


class WorkspaceChange(In):
    """What changes; only the keys that are sent. A shorter retention deletes the coming night.

    mails_per_day: most marketing mails a person gets on one of their days, null for any number.
    quiet_from, quiet_until: hours without marketing mail in the person's zone, both or neither.
    retention_days: how long finished runs, mails, events and the audit log are kept.
    """

    mails_per_day: Annotated[int, Field(ge=1, le=service.MOST_MAILS_PER_DAY)] | None = None
    quiet_from: Hour | None = None
    quiet_until: Hour | None = None
    retention_days: int = Field(0, ge=service.SHORTEST_RETENTION, le=service.LONGEST_RETENTION)
    timezone: ShortText = ""
    language: one_of(*service.LANGUAGES) = "en"  # type: ignore[valid-type]

    model_config = example(
        mails_per_day=2, quiet_from="22:00", quiet_until="07:00", timezone="Europe/Berlin"
    )


class WorkspaceOut(Out):
    """A workspace. suspended_at: since when its operator holds everything back, or null."""

    id: str
    name: str
    timezone: str
    language: str
    mails_per_day: int | None
    quiet_from: str | None
    quiet_until: str | None
    retention_days: int
    suspended_at: datetime | None
    created_at: datetime


@area.get("/workspace", "workspace:read", WorkspaceOut)
def get_workspace(call: Call) -> Result:
    """Read the workspace of the key."""
    return etag(Answer(_workspace(queries.get_settings(call.session, call.workspace_id))))


@area.patch("/workspace", "workspace:manage", WorkspaceOut)
def update_workspace(call: Call, body: WorkspaceChange) -> Result:
    """Change the workspace of the key: only the keys that are sent."""
    row = queries.get_settings(call.session, call.workspace_id, hold=True)
    sent = {name: getattr(body, name) for name in body.model_fields_set}
    known = {name: value for name, value in asdict(row).items() if name in Limits.__annotations__}
    wanted = Limits(**{**known, **sent})
    kept = service.update_limits(call.session, call.workspace_id, wanted, call.actor, call.at)
    return kept if isinstance(kept, Refused) else etag(Answer(_workspace(kept)))


def _workspace(row: WorkspaceSettings) -> WorkspaceOut:
    return WorkspaceOut(**shown(row, WorkspaceOut))
