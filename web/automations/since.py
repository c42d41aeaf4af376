"""How long after entering people come to each step, by the waits on the ways there. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from heapq import heappop, heappush
from typing import Final

from flask_babel import gettext as _

from engine.automations.graph import Graph, GraphStep
from web.filters import duration

_DAY: Final = timedelta(days=1)
_NOTHING: Final = timedelta(0)


@dataclass(frozen=True)
class Span:
    """When a step is executed: at the earliest and, by the longest way, at the latest.

    latest: None where a way back makes that unknowable.
    """

    earliest: timedelta
    latest: timedelta | None


def spans(graph: Graph) -> Mapping[str, Span]:
    """Return the span of each step that can be reached, by its key.

    A step whose wait has no length yet counts as no wait.
    """
    earliest = _earliest(graph)
    latest = _latest(graph) if not _turns_back(graph) else {}
    return {
        graph.steps[index].key: Span(found, latest.get(index)) for index, found in earliest.items()
    }


def words(span: Span | None) -> str:
    """Return a span as the card of a step says it; '' for a step that nobody reaches."""
    if span is None:
        return ""
    first = span.earliest // _DAY
    if span.latest is None:
        return str(_("day %(day)s since entry at the earliest", day=first))
    last = span.latest // _DAY
    if last > first:
        return str(_("day %(first)s to %(last)s since entry", first=first, last=last))
    if _NOTHING < span.earliest < _DAY:
        return str(_("%(span)s since entry", span=duration(span.earliest)))
    return str(_("day %(day)s since entry", day=first))


def _earliest(graph: Graph) -> dict[int, timedelta]:
    found: dict[int, timedelta] = {}
    waiting = [(_NOTHING, 0)] if graph.steps else []
    while waiting:
        arrived, index = heappop(waiting)
        if index in found:
            continue
        step = graph.steps[index]
        found[index] = arrived + _wait(step)
        for target in _targets(graph, step):
            heappush(waiting, (found[index], target))
    return found


def _latest(graph: Graph) -> dict[int, timedelta]:
    arrived: dict[int, timedelta] = {0: _NOTHING} if graph.steps else {}
    found: dict[int, timedelta] = {}
    for step in graph.steps:
        if step.index not in arrived:
            continue
        done = found[step.index] = arrived[step.index] + _wait(step)
        for target in _targets(graph, step):
            arrived[target] = max(arrived.get(target, _NOTHING), done)
    return found


def _targets(graph: Graph, step: GraphStep) -> list[int]:
    ways = [] if step.kind.ends else list(step.exits.values()) or [step.after]
    return [target for target in ways if target < len(graph.steps)]


def _turns_back(graph: Graph) -> bool:
    return any(target <= step.index for step in graph.steps for target in _targets(graph, step))


def _wait(step: GraphStep) -> timedelta:
    try:
        return step.kind.entry_delay(step.config)
    except ValueError:
        # A wait without a length: a draft may have one.
        return _NOTHING
