"""Texts with Liquid that are no mail: judged and rendered as mails are, by the same data."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.audience.models import BUILT_IN
from engine.core.outcome import Problem
from engine.delivery.compose.liquid import Broken, parse
from engine.delivery.compose.render import MailData, mended
from engine.delivery.queries import facts
from engine.delivery.service.previewing import Reader

# Of one text; what it becomes may be longer, within the bounds of Liquid.
LONGEST: Final = 20_000


def check_text(text: str, pointer: str) -> Problem | None:
    """Return why a text cannot be used, or None."""
    if len(text) > LONGEST:
        return Problem(pointer, "text_too_long", {"limit": LONGEST})
    if mended(text) != text:
        return Problem(pointer, "bad_character")
    parsed = parse(text)
    if isinstance(parsed, Broken):
        return parsed.refused(pointer).problems[0]
    return None


def render_text(text: str, data: MailData, at: datetime) -> str | None:
    """Return the text for `data`, or None where it does not work; at: what `now` means."""
    parsed = parse(text)
    if isinstance(parsed, Broken):
        return None
    rendered = parsed.render(data.variables(), at)
    return None if isinstance(rendered, Broken) else mended(rendered)


def data_of(
    session: Session, people: Collection[tuple[int, int]]
) -> Mapping[tuple[int, int], MailData]:
    """Return what texts may read, by (workspace, contact); three statements.

    Nobody's row: no data.
    """
    found = facts.people(session, {contact for _workspace, contact in people})
    workspaces = facts.workspace_variables(session, {workspace for workspace, _contact in people})
    return {
        (workspace, contact): MailData(
            found[contact].contact, found[contact].properties, workspaces[workspace]
        )
        for workspace, contact in people
        if contact in found and workspace in workspaces
    }


def data_for(session: Session, workspace_id: int, reader: Reader) -> MailData:
    """Return what texts may read of somebody who stands in no row; one statement."""
    values: dict[str, Any] = {
        key: facts.native(value) for key, value in reader.values.items() if key not in BUILT_IN
    }
    workspaces = facts.workspace_variables(session, [workspace_id])
    return MailData(reader.contact, values, workspaces[workspace_id])
