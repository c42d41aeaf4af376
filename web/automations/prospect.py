"""What a publish would do, in words: what differs, and the people inside whom it meets (A8).

Serves the page of publishing and that of a request for it; macros/prospect.html draws it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from engine.automations import queries
from engine.automations.comparing import ADDED
from engine.automations.queries import AutomationDetail
from engine.automations.service import PublishPreview
from web.automations import differences, findings


@dataclass(frozen=True)
class Standing:
    """People at one step. gone: the draft has no such step; due_at_once: whose wait a move ends."""

    title: str
    people: int
    gone: bool
    due_at_once: int | None


def of_draft(session: Session, workspace_id: int, found: AutomationDetail) -> dict[str, Any]:
    """Return what a check finds of the draft, and the number that its revision would get."""
    newest = queries.newest_number(session, workspace_id, found.row.row_id)
    return {**findings.check(session, workspace_id, found), "next_revision": newest + 1}


def of_publish(
    session: Session, workspace_id: int, found: AutomationDetail, preview: PublishPreview
) -> dict[str, Any]:
    """Return what differs from what is in force, and who stands where.

    due_at_once: how many a move lets go on within minutes, None where nobody counted; adds: whether
    there is a new step.
    """
    told = differences.told(
        session,
        workspace_id,
        (found.shown, found.draft),
        preview.comparison,
        (found.shown_names, found.names),
    )
    return {
        **told,
        "preview": preview,
        "standing": _standing(preview, told["titles"]),
        "due_at_once": _due_at_once(preview),
        "adds": any(step.what == ADDED for step in preview.comparison.steps),
    }


def _standing(preview: PublishPreview, titles: Mapping[str, str]) -> Sequence[Standing]:
    return [
        Standing(titles.get(each.key, each.key), each.standing, each.gone, each.due_at_once)
        for each in preview.impacts
    ]


def _due_at_once(preview: PublishPreview) -> int | None:
    counts = [each.due_at_once for each in preview.impacts]
    return None if None in counts else sum(each or 0 for each in counts)
