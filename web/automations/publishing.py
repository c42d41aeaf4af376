"""Publishing over what is in force: what differs, whom it meets, and what becomes of them (A8)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Response, flash, request, url_for
from werkzeug.exceptions import BadRequest

from engine.automations import queries, service
from engine.automations.comparing import ADDED
from engine.automations.models import DRAFT
from engine.automations.queries import AutomationDetail
from engine.automations.service import PublishPreview
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import (
    asked,
    blueprint,
    differences,
    findings,
    messages,
    reading,
    workplace,
)
from web.automations.blueprint import pages
from web.request import now, session


@dataclass(frozen=True)
class Standing:
    """People at one step. gone: the draft has no such step; due_at_once: whose wait a move ends."""

    title: str
    people: int
    gone: bool
    due_at_once: int | None


@pages.get("/<public_id>/publish")
@auth.requires("automations:read")
def ask_publish(public_id: str) -> Response:
    """Show what publishing the draft would change, and the people inside whom that meets."""
    return _show(blueprint.found(public_id))


@pages.post("/<public_id>/publish")
@auth.requires("automations:publish")
def publish(public_id: str) -> Response:
    """Put the draft in force that the page showed; people inside stay or move as chosen."""
    found = blueprint.found(public_id)
    people = request.form.get("people_inside", service.STAY)
    if people not in {service.STAY, service.MOVE}:
        raise BadRequest
    done = service.publish(
        session(),
        auth.person().workspace_id,
        public_id,
        people,
        auth.actor(),
        now(),
        workplace.seen_version(),
    )
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        return _show(blueprint.found(public_id), done)
    flash(messages.published(done, found.row.name))
    return htmx.see_other(url_for("automations.detail", public_id=public_id))


def told_differences(
    before: JsonObject, after: JsonObject, found: Any, names: tuple[Any, Any] = (None, None)
) -> dict[str, Any]:
    """Return what differs between two documents, in words: lines, values, and titles by key.

    found: the engine's comparison; names: beside the steps of either, where they were read before.
    """
    workspace_id = auth.person().workspace_id
    told = [
        reading.tell(session(), workspace_id, document, named)
        for document, named in zip((before, after), names, strict=True)
    ]
    titles = [{s.key: each.title(s) for s in each.graph.steps} if each else {} for each in told]
    triggers = [each.trigger() if each else "" for each in told]
    return {
        "lines": differences.lines(found, titles[0], titles[1]),
        "values": differences.settings(found, (triggers[0], triggers[1])),
        "titles": {**titles[0], **titles[1]},
    }


def _show(found: AutomationDetail, refused: Refused | None = None) -> Response:
    workspace_id, row = auth.person().workspace_id, found.row
    preview = service.preview_publish(session(), workspace_id, row.public_id, now())
    if row.status == DRAFT:
        if refused is not None:
            flash(messages.reason(refused), "hold")
        return htmx.see_other(url_for("automations.detail", public_id=row.public_id))
    if isinstance(preview, Refused):
        errors.abort_if_missing(preview)
        return blueprint.show(found, preview)
    told = told_differences(
        found.shown, found.draft, preview.comparison, (found.shown_names, found.names)
    )
    context = findings.check(session(), workspace_id, found)
    newest = queries.page_revisions(session(), workspace_id, row.public_id, limit=1)
    return htmx.render(
        "automations/publish.html",
        status=200 if refused is None else errors.status_of(refused),
        preview=preview,
        next_revision=max((each.number for each in newest[0]), default=0) + 1 if newest else 1,
        standing=_standing(preview, told["titles"]),
        due_at_once=_due_at_once(preview),
        adds=any(step.what == ADDED for step in preview.comparison.steps),
        refused=messages.reason(refused) if refused else "",
        may_publish=auth.may("automations:publish"),
        requests=asked.waiting(session(), workspace_id, found, auth.actor().name),
        **told,
        **context,
    )


def _standing(preview: PublishPreview, titles: Any) -> Sequence[Standing]:
    return [
        Standing(titles.get(each.key, each.key), each.standing, each.gone, each.due_at_once)
        for each in preview.impacts
    ]


def _due_at_once(preview: PublishPreview) -> int | None:
    """Return how many a move lets go on within minutes; None where nobody counted."""
    counts = [each.due_at_once for each in preview.impacts]
    return None if None in counts else sum(each or 0 for each in counts)
