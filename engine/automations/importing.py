"""A document from elsewhere: what it names that is not here, and putting something else there.

Nothing is written: who has seen the preview creates a draft of what `mapped` returns.
"""

import copy
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Secret
from engine.audience import queries as audience
from engine.audience.models import Property
from engine.automations.document import Document, read_document
from engine.automations.families import PROPERTY, SECRET, TEMPLATE, TOPIC, References
from engine.automations.kinds.triggers import TRIGGERS
from engine.core.db import JsonObject
from engine.core.ids import is_public_id
from engine.core.outcome import Refused
from engine.core.text import storable
from engine.delivery import queries as delivery

# Where a configuration begins in a pointer: /steps/<index>/config/<key>, /trigger/config/<key>.
_CONFIG: Final = "config"


@dataclass(frozen=True)
class Missing:
    """Something that a document names and this workspace has not.

    pointer: where, as a JSON pointer; family: template, topic, property or secret; id: its public
    id, of a property its key.
    """

    pointer: str
    family: str
    id: str


def preview_import(
    session: Session, workspace_id: int, raw: object
) -> tuple[Document, tuple[Missing, ...]] | Refused:
    """Return the document that `raw` (parsed JSON) spells and what of it is not here.

    Refused with every structural fault. At most one statement a family.
    """
    document = read_document(raw)
    if isinstance(document, Refused):
        return document
    named = named_in(document)
    asked: dict[str, set[str]] = defaultdict(set)
    for each in named:
        asked[each.family].add(each.id)
    here = {family: _HERE[family](session, workspace_id, ids) for family, ids in asked.items()}
    return document, tuple(each for each in named if each.id not in here[each.family])


def mapped(document: JsonObject, mapping: Mapping[str, str | None]) -> JsonObject:
    """Return the document with other ids at the pointers that `preview_import` called missing.

    None leaves the field empty, as a draft may; where the id stands within a rule, the whole rule.
    A pointer that leads nowhere is passed over.
    """
    changed: JsonObject = copy.deepcopy(document)
    for pointer, found in mapping.items():
        parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        if found is None and _CONFIG in parts:
            parts = parts[: parts.index(_CONFIG) + 2]
        _put(changed, parts, found)
    return changed


def named_in(document: Document) -> Sequence[Missing]:
    """Return everything that a document names and another workspace may lack, with its place."""
    return [
        Missing(f"{where}/{place}", family, name)
        for where, references in _references(document)
        for place, (family, name) in references.items()
    ]


def _references(document: Document) -> Iterator[tuple[str, References]]:
    """Yield what trigger and steps name, each with the pointer of its configuration."""
    trigger = TRIGGERS.get(document.trigger_type)
    config = trigger.Config.model_validate(document.trigger_config)
    yield f"/trigger/{_CONFIG}", trigger.references(config)
    for step in document.graph.steps:
        yield f"/steps/{step.index}/{_CONFIG}", step.kind.references(step.config)


def _put(document: JsonObject, parts: list[str], value: str | None) -> None:
    here: Any = document
    for part in parts[:-1]:
        here = _below(here, part)
    if isinstance(here, dict) and parts and parts[-1] in here:
        here[parts[-1]] = value


def _below(here: Any, part: str) -> Any:
    if isinstance(here, dict):
        return here.get(part)
    known = isinstance(here, list) and part.isascii() and part.isdigit()
    return here[int(part)] if known and int(part) < len(here) else None


def _templates(session: Session, workspace_id: int, ids: Collection[str]) -> Collection[str]:
    asked = [each for each in ids if is_public_id(each)]
    return delivery.template_names(session, workspace_id, asked).keys()


def _topics(session: Session, workspace_id: int, ids: Collection[str]) -> Collection[str]:
    return audience.topic_names(session, workspace_id, ids).keys()


def _properties(session: Session, workspace_id: int, keys: Collection[str]) -> Collection[str]:
    asked = [key for key in keys if storable(key)]
    row = Property
    return set(
        session.scalars(select(row.key).where(row.workspace_id == workspace_id, row.key.in_(asked)))
    )


def _secrets(session: Session, workspace_id: int, ids: Collection[str]) -> Collection[str]:
    asked = [each for each in ids if is_public_id(each)]
    row = Secret
    return set(
        session.scalars(
            select(row.public_id).where(row.workspace_id == workspace_id, row.public_id.in_(asked))
        )
    )


_HERE: Final[Mapping[str, Callable[[Session, int, Collection[str]], Collection[str]]]] = {
    TEMPLATE: _templates,
    TOPIC: _topics,
    PROPERTY: _properties,
    SECRET: _secrets,
}
