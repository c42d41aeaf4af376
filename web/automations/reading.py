"""A stored document ready to be told: its graph, the names it mentions, its words by step.

Owns the reads a page needs to say what a document means, set-wise; leaves the drawing to `track`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations.document import Document, read_document
from engine.automations.graph import Graph, GraphStep
from engine.automations.kinds.steps import STEPS as STEP_KINDS
from engine.automations.kinds.triggers import TRIGGERS as TRIGGER_KINDS
from engine.automations.revisions import graphs_of
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web.automations.kinds.conditions.base import Names
from web.automations.kinds.steps import STEPS
from web.automations.kinds.steps.base import Named
from web.automations.kinds.triggers import TRIGGERS

KeyT = TypeVar("KeyT")


@dataclass(frozen=True)
class Told:
    """A document with every name it mentions."""

    document: Document
    steps: Mapping[str, Mapping[str, str]]
    topics: Names

    @property
    def graph(self) -> Graph:
        """Return the compiled steps."""
        return self.document.graph

    def trigger(self) -> str:
        """Return what starts the automation."""
        return _trigger(self.document.trigger_type, self.document.trigger_config, self.topics)

    def entered(self, kind: str, data: JsonObject | None) -> str:
        """Return how a person entered; kind, data: what the run kept of its trigger."""
        return TRIGGERS.get(kind).entered(data or {}, self.topics) if kind in TRIGGERS else kind

    def named(self, step: GraphStep) -> Named[Any]:
        """Return a step with the names it mentions."""
        return Named(step.config, self.steps.get(step.key, {}), self.topics)

    def title(self, step: GraphStep) -> str:
        """Return what a step does."""
        return STEPS.get(step.type).title(self.named(step))

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Return what the steps do, by key.

        Steps that do the same bear their number where a branch or a jump leads to one of them:
        else nobody could read to which.
        """
        steps = self.graph.steps
        said = {step.key: self.title(step) for step in steps}
        times = Counter(said.values())
        led = {steps[target].key for step in steps for target in _led(step) if target < len(steps)}
        alike = {said[key] for key in led if times[said[key]] > 1}
        return {
            step.key: f"{said[step.key]} ({step.index + 1})"
            if said[step.key] in alike
            else said[step.key]
            for step in steps
        }


def tell(
    session: Session,
    workspace_id: int,
    content: JsonObject,
    steps: Mapping[str, Mapping[str, str]] | None = None,
) -> Told | None:
    """Return a stored document with its names; None for one that this version cannot read.

    steps: names by step key where the caller has them already; else they are read, one statement
    a kind in use.
    """
    if steps is None:
        return tell_each(session, workspace_id, {None: content}).get(None)
    document = read_document(content)
    if isinstance(document, Refused):
        return None
    return Told(document, steps, _topic_names(session, workspace_id, _wanted(document)))


def tell_each(
    session: Session, workspace_id: int, contents: Mapping[KeyT, JsonObject]
) -> Mapping[KeyT, Told]:
    """Return stored documents with their names by the caller's own key.

    One that this version cannot read is left out. One statement for each step kind in use, however
    many documents, and one for topics.
    """
    read = {
        key: document
        for key, content in contents.items()
        if not isinstance(document := read_document(content), Refused)
    }
    steps = {(key, step.key): step for key, each in read.items() for step in each.graph.steps}
    names = _names(session, workspace_id, steps)
    wanted = frozenset[str]().union(*(_wanted(document) for document in read.values()))
    topics = _topic_names(session, workspace_id, wanted)
    return {
        key: Told(
            document,
            {step.key: names.get((key, step.key), {}) for step in document.graph.steps},
            topics,
        )
        for key, document in read.items()
    }


def trigger_words(
    session: Session, workspace_id: int, triggers: Mapping[KeyT, tuple[str, JsonObject]]
) -> Mapping[KeyT, str]:
    """Return what starts some automations, in one statement; triggers: (type, config) by key."""
    wanted = frozenset[str]().union(*(_trigger_topics(*each) for each in triggers.values()))
    topics = _topic_names(session, workspace_id, wanted)
    return {key: _trigger(*each, topics) for key, each in triggers.items()}


def step_titles(
    session: Session, workspace_id: int, places: Mapping[KeyT, tuple[int, str | None]]
) -> Mapping[KeyT, str]:
    """Return what the steps do at which people stand; places: (revision row, step key) by key.

    A place whose revision or step is gone is left out. At most two statements for the revisions,
    one for each step kind in use, one for topics.
    """
    known = graphs_of(session, {revision for revision, _key in places.values()})
    found: dict[KeyT, GraphStep] = {}
    for key, (revision, step_key) in places.items():
        steps = known[revision].steps if revision in known else ()
        found.update((key, step) for step in steps if step.key == step_key)
    names = _names(session, workspace_id, found)
    topics = _topic_names(session, workspace_id, _topics(found.values()))
    return {
        key: STEPS.get(step.type).title(Named(step.config, names.get(key, {}), topics))
        for key, step in found.items()
    }


def _led(step: GraphStep) -> Collection[int]:
    """Return where a step leads other than to the next one in order."""
    if step.kind.ends:
        return ()
    return step.exits.values() or ({step.after} - {step.index + 1})


def _trigger(kind: str, config: JsonObject, topics: Names) -> str:
    if kind not in TRIGGERS:
        return kind
    read = TRIGGER_KINDS.get(kind).Config.model_validate(config)
    return TRIGGERS.get(kind).title(read, topics)


def _trigger_topics(kind: str, config: JsonObject) -> frozenset[str]:
    if kind not in TRIGGERS:
        return frozenset()
    return TRIGGERS.get(kind).topics(TRIGGER_KINDS.get(kind).Config.model_validate(config))


def _wanted(document: Document) -> frozenset[str]:
    """Return the topics that a document names, as public ids."""
    trigger = _trigger_topics(document.trigger_type, document.trigger_config)
    return _topics(document.graph.steps) | trigger


def _topics(steps: Iterable[GraphStep]) -> frozenset[str]:
    return frozenset[str]().union(*(STEPS.get(step.type).topics(step.config) for step in steps))


def _topic_names(session: Session, workspace_id: int, public_ids: Collection[str]) -> Names:
    return audience.topic_names(session, workspace_id, public_ids) if public_ids else {}


def _names(
    session: Session, workspace_id: int, steps: Mapping[Any, GraphStep]
) -> Mapping[Any, Mapping[str, str]]:
    """Return the names beside steps by the caller's own key; one statement a kind in use."""
    by_kind: dict[str, dict[Any, Any]] = {}
    for key, step in steps.items():
        by_kind.setdefault(step.type, {})[key] = step.config
    found: dict[Any, Mapping[str, str]] = {}
    for kind, configs in by_kind.items():
        found.update(STEP_KINDS.get(kind).enrich(session, workspace_id, configs))
    return found
