"""A draft as the editor works on it: the document with its version, and how it is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flask_babel import gettext as _
from pydantic import ValidationError
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.comparing import same
from engine.automations.editing import Place
from engine.automations.graph import END
from engine.automations.kinds.steps import STEPS as STEP_KINDS
from engine.automations.queries import AutomationDetail
from engine.core.db import JsonObject
from web.automations import reading
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.automations.track import START


@dataclass(frozen=True)
class Draft:
    """row_id: of the automation; version: what the editor has seen, for the optimistic lock."""

    row_id: int
    public_id: str
    name: str
    version: int
    document: JsonObject
    told: Told

    def step(self, key: str) -> JsonObject | None:
        """Return a step of the document, or None."""
        return next((step for step in self.document["steps"] if step["key"] == key), None)

    def index(self, key: str) -> int:
        """Return where a step stands in the order."""
        return [step["key"] for step in self.document["steps"]].index(key)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Return what the steps do, by key."""
        return {step.key: self.told.title(step) for step in self.told.graph.steps}

    def behind(self, place: Place) -> str:
        """Return a place in words."""
        if place.after is None:
            return str(_("Right at the start"))
        title = self.titles.get(place.after, place.after)
        step = self.step(place.after)
        if place.exit is None or step is None:
            return str(_("Behind “%(step)s”", step=title))
        word = STEPS.get(step["type"]).way_out(place.exit)
        return str(_("Behind “%(step)s”, %(exit)s", step=title, exit=word))


def load(session: Session, workspace_id: int, public_id: str) -> Draft | None:
    """Return the draft of an automation; None where it is unknown or cannot be read any more."""
    row = service.find(session, workspace_id, public_id)
    if row is None:
        return None
    document = service.draft_document(session, row)
    told = reading.tell(session, workspace_id, document)
    if told is None:
        return None
    return Draft(row.id, row.public_id, row.name, row.draft_version, document, told)


def of_detail(found: AutomationDetail, told: Told) -> Draft:
    """Return the draft of an automation that the page has read already."""
    row = found.row
    return Draft(row.row_id, row.public_id, row.name, row.etag, found.draft, told)


def exits(kind: str, config: JsonObject, stored: JsonObject) -> tuple[str, ...]:
    """Return the exits that a configuration has; those of the stored one while it is no good."""
    step = STEP_KINDS.get(kind)
    for tried in (config, stored):
        try:
            return tuple(step.branches(step.Config.model_validate(tried)))
        except ValidationError:
            continue
    return ()


def settled(model: Any, wanted: JsonObject, stored: JsonObject) -> JsonObject:
    """Return the stored configuration where the wanted one means the same, else the wanted one.

    So that saving a form unchanged changes nothing, whatever a default leaves out.
    """
    try:
        before, after = model.model_validate(stored), model.model_validate(wanted)
    except ValidationError:
        return wanted
    return stored if same(before.model_dump(), after.model_dump()) else wanted


def write_place(place: Place) -> str:
    """Return a place as one value of a form or address."""
    return f"{place.after or START}.{place.exit or ''}"


def read_place(text: str) -> Place:
    """Return the place that `write_place` wrote; keys have no dots."""
    after, _dot, exit_ = text.partition(".")
    return Place(None if after == START else after, exit_ or None)


def targets(draft: Draft, own: str) -> list[tuple[str, str]]:
    """Return every step but `own`, and the end, as what a way may lead to."""
    steps = [
        (step["key"], f"{number}. {draft.titles[step['key']]}")
        for number, step in enumerate(draft.document["steps"], 1)
        if step["key"] != own
    ]
    return [*steps, (END, str(_("End")))]
