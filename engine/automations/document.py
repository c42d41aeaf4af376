"""The automation document (interface.md): reading it, judging its structure, writing it out.

Structure is judged on every save; completeness only before activation (decision A8).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from engine.automations.graph import END, Graph, link
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.triggers import TRIGGERS
from engine.core.db import JsonObject
from engine.core.outcome import Problem, Refused, below

MAX_STEPS: Final = 200
MAX_NAME: Final = 200
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TriggerPart(_Part):
    """type: a trigger kind; config: judged by the kind."""

    type: str
    config: dict[str, Any] = Field(default_factory=dict)


class StepPart(_Part):
    """One step. next: a step key, `end`, or None for the next in order."""

    key: str
    type: str
    config: dict[str, Any]
    next: str | None = None


class ReentryDays(_Part):
    """At most once per so many days."""

    days: Annotated[int, Field(ge=1, le=3650)]


class DocumentPart(_Part):
    """The whole document."""

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)
    ]
    description: Annotated[str, Field(max_length=5000)] | None = None
    on_pause: Literal["cancel", "hold"] = "cancel"
    reentry: Literal["after_end", "once"] | ReentryDays = "after_end"
    trigger: TriggerPart
    steps: Annotated[list[StepPart], Field(max_length=MAX_STEPS)]


@dataclass(frozen=True)
class Document:
    """A document whose structure is sound. `graph` is its compiled form."""

    name: str
    description: str | None
    on_pause: str
    reentry: Any
    trigger_type: str
    trigger_config: JsonObject
    steps: tuple[StepPart, ...]
    graph: Graph

    @property
    def settings(self) -> JsonObject:
        """Return what the draft keeps beside its steps."""
        return {
            "on_pause": self.on_pause,
            "reentry": self.reentry,
            "trigger": {"type": self.trigger_type, "config": self.trigger_config},
        }


def read_document(raw: object) -> Document | Refused:
    """Return the document that `raw` (parsed JSON) spells, or every structural fault of it."""
    try:
        part = DocumentPart.model_validate(raw)
    except ValidationError as error:
        return Refused("invalid_document", "invalid", tuple(shape_problems(error, "")))
    problems = [*_trigger_problems(part.trigger), *_key_problems(part.steps)]
    problems += _step_problems(part.steps)
    if problems:
        return Refused("invalid_document", "invalid", tuple(problems))
    graph = link([step.model_dump() for step in part.steps])
    cycle = graph.endless()
    if cycle is not None:
        where = f"/steps/{cycle}/next"
        return Refused("invalid_document", "invalid", (Problem(where, "endless_cycle"),))
    reentry = part.reentry if isinstance(part.reentry, str) else part.reentry.model_dump()
    return Document(
        part.name,
        part.description,
        part.on_pause,
        reentry,
        part.trigger.type,
        part.trigger.config,
        tuple(part.steps),
        graph,
    )


def write_document(
    name: str, description: str | None, settings: Mapping[str, Any], steps: Sequence[JsonObject]
) -> JsonObject:
    """Return the JSON document of a draft or revision; what `read_document` takes."""
    document: JsonObject = {"name": name}
    if description is not None:
        document["description"] = description
    return {**document, **settings, "steps": [dict(step) for step in steps]}


def digest(content: JsonObject) -> str:
    """Return the SHA-256 of a document as it is stored; equal for equal contents alone.

    What somebody was asked to grant is bound to it (decision C6).
    """
    spelt = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelt.encode()).hexdigest()


def shape_problems(error: ValidationError, pointer: str) -> list[Problem]:
    """Return a validation error as problems with JSON pointers below `pointer`."""
    found: dict[str, Problem] = {}
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        parts = [part for part in fault["loc"] if not _is_union_label(part)]
        where = below(pointer, *parts)
        # Of a union every member complains; the first says it best.
        found.setdefault(where, Problem(where, fault["type"], {"detail": fault["msg"]}))
    return list(found.values())


def _is_union_label(part: int | str) -> bool:
    # pydantic names the tried member of a union in the path; it is no key of the document.
    return isinstance(part, str) and (part.startswith("literal[") or part == "ReentryDays")


def _trigger_problems(trigger: TriggerPart) -> list[Problem]:
    if trigger.type not in TRIGGERS:
        params = {"known": ", ".join(TRIGGERS)}
        return [Problem("/trigger/type", "unknown_trigger", params)]
    try:
        TRIGGERS.get(trigger.type).Config.model_validate(trigger.config)
    except ValidationError as error:
        return shape_problems(error, "/trigger/config")
    return []


def _key_problems(steps: Sequence[StepPart]) -> list[Problem]:
    found, seen = [], set()
    for index, step in enumerate(steps):
        where = f"/steps/{index}/key"
        if step.key == END:
            found.append(Problem(where, "reserved_key"))
        elif not _KEY.fullmatch(step.key):
            found.append(Problem(where, "invalid_key"))
        elif step.key in seen:
            found.append(Problem(where, "duplicate_key", {"key": step.key}))
        seen.add(step.key)
    return found


def _step_problems(steps: Sequence[StepPart]) -> list[Problem]:
    keys = {step.key for step in steps} | {END}
    found: list[Problem] = []
    for index, step in enumerate(steps):
        where = f"/steps/{index}"
        if step.next is not None and step.next not in keys:
            found.append(Problem(f"{where}/next", "missing_target", {"key": step.next}))
        if step.type not in STEPS:
            found.append(Problem(f"{where}/type", "unknown_step", {"known": ", ".join(STEPS)}))
            continue
        found += _config_problems(step, where, keys)
    return found


def _config_problems(step: StepPart, where: str, keys: set[str]) -> list[Problem]:
    kind = STEPS.get(step.type)
    try:
        config = kind.Config.model_validate(step.config)
    except ValidationError as error:
        return shape_problems(error, f"{where}/config")
    return kind.structure(config, where) + [
        Problem(f"{where}/config/{name}", "missing_target", {"key": target})
        for name, target in kind.branches(config).items()
        if target is not None and target not in keys
    ]
