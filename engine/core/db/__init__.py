"""The database floor: base and types, engines and sessions, workspace guard, batches."""

from engine.core.db.batch import Columns, always, among, batch_table, upsert
from engine.core.db.engine import WRITE, Database, make_engine
from engine.core.db.guard import WorkspaceBreach, scope
from engine.core.db.paging import next_cursor, older
from engine.core.db.schema import (
    Base,
    Id,
    Instant,
    JsonObject,
    WorkspaceRow,
    json_type,
    workspace_key,
    workspace_reference,
)

__all__ = [
    "WRITE",
    "Base",
    "Columns",
    "Database",
    "Id",
    "Instant",
    "JsonObject",
    "WorkspaceBreach",
    "WorkspaceRow",
    "always",
    "among",
    "batch_table",
    "json_type",
    "make_engine",
    "next_cursor",
    "older",
    "scope",
    "upsert",
    "workspace_key",
    "workspace_reference",
]
