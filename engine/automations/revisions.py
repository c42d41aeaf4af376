"""Frozen revisions and their compiled graphs. A revision never changes, so a graph is kept."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.graph import Graph, link
from engine.automations.models import AutomationRevision

_KEPT: Final = 512


class _Graphs:
    """The compiled graphs of this process, newest use last."""

    def __init__(self) -> None:
        self._kept: dict[int, Graph] = {}

    def missing(self, revision_ids: Collection[int]) -> set[int]:
        return set(revision_ids) - self._kept.keys()

    def keep(self, revision_id: int, graph: Graph) -> None:
        while len(self._kept) >= _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        self._kept[revision_id] = graph

    def get(self, revision_id: int) -> Graph | None:
        return self._kept.get(revision_id)


@lru_cache(maxsize=8)
def _graphs(_database: str) -> _Graphs:
    return _Graphs()


def graphs(session: Session, revision_ids: Collection[int]) -> Mapping[int, Graph]:
    """Return the graphs of revisions by row id; at most one statement, none when all are known."""
    engine = session.get_bind().engine
    known = _graphs(f"{id(engine)} {engine.url}")
    wanted = known.missing(revision_ids)
    if wanted:
        row = AutomationRevision
        statement = select(row.id, row.document).where(row.id.in_(wanted))
        for revision_id, document in session.execute(statement):
            known.keep(revision_id, link(document["steps"]))
    found = {revision_id: known.get(revision_id) for revision_id in revision_ids}
    return {revision_id: graph for revision_id, graph in found.items() if graph is not None}
