"""Frozen revisions and their compiled graphs. A revision never changes, so a graph is kept.

One that does not read (a kind of another version, a hand in the database) has no graph: its people
leave and it starts nobody, but it stalls no other automation (decision G4).
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import structlog
from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.graph import Graph, link
from engine.automations.models import AutomationRevision
from engine.core.db import among
from engine.core.registry import UnknownKind

log: Final = structlog.get_logger(__name__)

_KEPT: Final = 512


class _Graphs:
    """The compiled graphs of this process by the revision's public id, newest last.

    Never by its row: SQLite gives the number of a deleted row to the next one.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Graph] = {}

    def keep(self, public_id: str, graph: Graph) -> None:
        while len(self._kept) >= _KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        self._kept[public_id] = graph

    def get(self, public_id: str) -> Graph | None:
        return self._kept.get(public_id)


_GRAPHS: Final = _Graphs()


def graphs(session: Session, revisions: Mapping[int, str]) -> Mapping[int, Graph]:
    """Return graphs by revision row; at most one statement, none when all are known.

    revisions: the public id of each row. One that does not read is left out.
    """
    found = {row_id: _GRAPHS.get(public_id) for row_id, public_id in revisions.items()}
    wanted = [row_id for row_id, graph in found.items() if graph is None]
    if wanted:
        row = AutomationRevision
        statement = select(row.id, row.document).where(among(session, row.id, wanted))
        for row_id, document in session.execute(statement):
            graph = found[row_id] = _linked(revisions[row_id], document)
            if graph is not None:
                _GRAPHS.keep(revisions[row_id], graph)
    return {row_id: graph for row_id, graph in found.items() if graph is not None}


def graphs_of(session: Session, row_ids: Collection[int]) -> Mapping[int, Graph]:
    """Return graphs as `graphs` does, for who knows the rows alone; one statement more."""
    row = AutomationRevision
    named = session.execute(select(row.id, row.public_id).where(among(session, row.id, row_ids)))
    return graphs(session, dict(named.all()))


def _linked(public_id: str, document: Any) -> Graph | None:
    try:
        return link(document["steps"])
    except (UnknownKind, ValidationError, KeyError, TypeError) as error:
        log.error("revision_unreadable", revision=public_id, error=type(error).__name__)
        return None
