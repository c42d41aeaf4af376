"""The file of an automation by API: the same that the console's “Export” makes."""

from datetime import datetime
from typing import Any

from engine.automations import service
from engine.automations.exporting import write_export
from engine.core.outcome import Refused
from web.api.automations import UNKNOWN, area
from web.api.door import Answer, Call, Result
from web.api.fields import ById, Out


class NameOut(Out):
    """What an id stands for. kind: of a secret (signing, address) or a property (its type)."""

    name: str
    kind: str | None = None


class ExportOut(Out):
    """A file for another workspace. automation: what POST /automations takes.

    names: by family (template, topic, property, secret) and id, of a property its key; left_out:
    JSON pointers into the document of values that may be secrets, and are not in it.
    """

    format: str
    format_version: int
    about: str
    exported_at: datetime
    automation: dict[str, Any]
    names: dict[str, dict[str, NameOut]]
    left_out: list[str]


@area.get("/automations/<id>/export", "automations:read", ExportOut)
def export_automation(call: Call, path: ById) -> Result:
    """Read the draft as a file that the console of another workspace imports."""
    row = service.find(call.session, call.workspace_id, path.id)
    if row is None:
        return UNKNOWN
    content = service.draft_document(call.session, row)
    written = write_export(call.session, call.workspace_id, content, call.at)
    return written if isinstance(written, Refused) else Answer(ExportOut(**written))
