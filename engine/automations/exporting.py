"""The file of an automation: its document, and what the ids in it stand for, never a secret.

Another workspace reads it with `engine.automations.importing` and puts its own things in place.
"""

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts.models import Secret
from engine.audience import queries as audience
from engine.audience.models import Property
from engine.automations.document import Document, read_document
from engine.automations.families import FAMILIES, PROPERTY, SECRET, TEMPLATE, TOPIC
from engine.automations.importing import named_in
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from engine.delivery import queries as delivery

FORMAT: Final = "stellwerk.automation"
VERSION: Final = 1
ABOUT: Final = (
    "An automation of Stellwerk. `automation` is the document that POST /api/v1/automations takes. "
    "`names` says, by kind and id (of a property: its key), what the document refers to, so that "
    "another workspace can put its own templates, topics, properties and secrets in their place. "
    "`left_out` names, as JSON pointers into the document, values that may be secrets: they are "
    "not in this file."
)
Name = tuple[str, str]
"""A family and an id of it, of a property its key."""


@dataclass(frozen=True)
class Opened:
    """What a file holds, not judged yet. raw: the document; names: what its ids stand for.

    kinds: of secrets (`signing`, `address`) and properties (their type), where the file says so;
    left_out: JSON pointers of what was kept back.
    """

    raw: Any
    names: Mapping[Name, str] = field(default_factory=dict)
    kinds: Mapping[Name, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def write_export(
    session: Session, workspace_id: int, content: JsonObject, at: datetime
) -> JsonObject | Refused:
    """Return a draft or a revision as a file for elsewhere; at most one statement a family.

    Refused with the faults of a document that this version cannot read.
    """
    document = read_document(content)
    if isinstance(document, Refused):
        return document
    asked: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for each in named_in(document):
        asked[each.family].add(each.id)
    sent, left_out = _without_secrets(content, document)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "about": ABOUT,
        "exported_at": at.isoformat(),
        "automation": sent,
        "names": {
            TEMPLATE: _plain(delivery.template_names(session, workspace_id, asked[TEMPLATE])),
            TOPIC: _plain(audience.topic_names(session, workspace_id, asked[TOPIC])),
            PROPERTY: _properties(session, workspace_id, asked[PROPERTY]),
            SECRET: _secrets(session, workspace_id, asked[SECRET]),
        },
        "left_out": left_out,
    }


def open_export(value: Any) -> Opened | Refused:
    """Return what a file (parsed JSON) holds; a bare document and a GET of the API count as one.

    Refused: `not_an_export`, and `newer_format` for the file of a later version.
    """
    if not isinstance(value, dict):
        return Refused("not_an_export", "invalid")
    if value.get("format") == FORMAT:
        return _opened(value)
    for raw in (value.get("document"), value):
        if isinstance(raw, dict) and {"trigger", "steps"} <= raw.keys():
            return Opened(raw)
    return Refused("not_an_export", "invalid")


def _opened(value: Mapping[str, Any]) -> Opened | Refused:
    version = value.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or "automation" not in value:
        return Refused("not_an_export", "invalid")
    if version > VERSION:
        return Refused("newer_format", "invalid", params={"version": version, "known": VERSION})
    names: dict[Name, str] = {}
    kinds: dict[Name, str] = {}
    families = value.get("names")
    for family in FAMILIES:
        told = families.get(family) if isinstance(families, dict) else None
        for each, said in told.items() if isinstance(told, dict) else ():
            if isinstance(said, dict) and isinstance(said.get("name"), str):
                names[family, each] = said["name"]
            if isinstance(said, dict) and isinstance(said.get("kind"), str):
                kinds[family, each] = said["kind"]
    left_out = value.get("left_out")
    pointers = left_out if isinstance(left_out, list) else []
    kept_back = tuple(each for each in pointers if isinstance(each, str))
    return Opened(value["automation"], names, kinds, kept_back)


def _without_secrets(content: JsonObject, document: Document) -> tuple[JsonObject, list[str]]:
    sent: JsonObject = copy.deepcopy(content)
    left_out = []
    for step in document.graph.steps:
        config = sent["steps"][step.index]["config"]
        for place in sorted(step.kind.kept_back(step.config)):
            left_out.append(f"/steps/{step.index}/config/{place}")
            *above, last = [each.replace("~1", "/").replace("~0", "~") for each in place.split("/")]
            here = config
            for part in above:
                here = here[part]
            del here[last]
    return sent, left_out


def _plain(names: Mapping[str, str]) -> dict[str, JsonObject]:
    return {public_id: {"name": name} for public_id, name in sorted(names.items())}


def _properties(
    session: Session, workspace_id: int, keys: Collection[str]
) -> dict[str, JsonObject]:
    row = Property
    found = session.execute(
        select(row.key, row.label, row.type)
        .where(row.workspace_id == workspace_id, row.key.in_(keys))
        .order_by(row.key)
    )
    return {key: {"name": label or key, "kind": kind} for key, label, kind in found}


def _secrets(session: Session, workspace_id: int, ids: Collection[str]) -> dict[str, JsonObject]:
    row = Secret
    found = session.execute(
        select(row.public_id, row.name, row.kind)
        .where(row.workspace_id == workspace_id, row.public_id.in_(ids))
        .order_by(row.public_id)
    )
    return {public_id: {"name": name, "kind": kind} for public_id, name, kind in found}
