"""Check: what would fail for certain if this document ran, and what may go wrong (A12)."""

from collections import defaultdict
from typing import Any

from sqlalchemy.orm import Session

from engine.automations.document import Document
from engine.automations.graph import GraphStep
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.triggers import TRIGGERS
from engine.core.outcome import Problem


def trigger_complete(document: Document) -> bool:
    """Return whether the trigger has what it needs to ever match."""
    kind = TRIGGERS.get(document.trigger_type)
    return kind.complete(kind.Config.model_validate(document.trigger_config))


def errors(session: Session, workspace_id: int, document: Document) -> list[Problem]:
    """Return every error with its pointer: a bounded number of statements per kind in use."""
    trigger = TRIGGERS.get(document.trigger_type)
    config = trigger.Config.model_validate(document.trigger_config)
    found = trigger.problems(session, workspace_id, config) if trigger.complete(config) else []
    for name, configs in _by_kind(document).items():
        found += STEPS.get(name).problems(session, workspace_id, configs)
    return found


def warnings(session: Session, workspace_id: int, document: Document) -> list[Problem]:
    """Return what may go wrong but forbids nothing: of the ways, and what the kinds know of."""
    found = [*_loops(document), *_unreachable(document), *_dead_ends(document)]
    for name, configs in _by_kind(document).items():
        found += STEPS.get(name).warnings(session, workspace_id, configs)
    return found


def enrichment(
    session: Session, workspace_id: int, document: Document
) -> dict[str, dict[str, str]]:
    """Return names to show beside the steps, by step key; one statement per kind in use."""
    shown: dict[str, dict[str, str]] = {}
    keys = {f"/steps/{step.index}": step.key for step in document.graph.steps}
    for name, configs in _by_kind(document).items():
        for pointer, names in STEPS.get(name).enrich(session, workspace_id, configs).items():
            shown[keys[pointer]] = dict(names)
    return shown


def _by_kind(document: Document) -> dict[str, dict[str, Any]]:
    grouped: dict[str, dict[str, Any]] = defaultdict(dict)
    for step in document.graph.steps:
        grouped[step.type][f"/steps/{step.index}"] = step.config
    return grouped


def _loops(document: Document) -> list[Problem]:
    return [
        Problem(f"/steps/{step.index}{where}", "loop", {"key": document.graph.steps[target].key})
        for step in document.graph.steps
        for where, target in _ways(step)
        if target <= step.index
    ]


def _unreachable(document: Document) -> list[Problem]:
    """Return the steps that nobody gets to, whichever way people take."""
    steps = document.graph.steps
    reached: set[int] = set()
    ahead = [0]
    while ahead:
        here = ahead.pop()
        if here < len(steps) and here not in reached:
            reached.add(here)
            ahead += [target for _, target in _ways(steps[here])]
    return [Problem(f"/steps/{s.index}", "unreachable") for s in steps if s.index not in reached]


def _dead_ends(document: Document) -> list[Problem]:
    """Return the ways out of a branch that end only because no step stands behind it yet.

    One that names `end` is meant so.
    """
    last = len(document.steps)
    return [
        Problem(f"/steps/{step.index}/config/{name}", "dead_end")
        for step, part in zip(document.graph.steps, document.steps, strict=True)
        for name, key in step.kind.branches(step.config).items()
        if key is None and part.next is None and step.exits[name] == last
    ]


def _ways(step: GraphStep) -> list[tuple[str, int]]:
    """Return where a step leads to, each with the place in the document that says so."""
    if step.kind.ends:
        return []
    exits = [(f"/config/{name}", target) for name, target in step.exits.items()]
    return exits or [("/next", step.after)]
