"""The database floor: base and types, engines and sessions, workspace guard, batches."""

from engine.core.db.batch import Columns, always, among, batch_table, upsert
from engine.core.db.engine import WRITE, Database, make_engine
from engine.core.db.guard import WorkspaceBreach, scope
from engine.core.db.paging import next_cursor, older
from engine.core.db.schema import (
    EMBEDDED,
    Base,
    Id,
    Instant,
    JsonObject,
    WorkspaceChild,
    WorkspaceRow,
    json_type,
    workspace_if_embedded,
    workspace_key,
    workspace_reference,
)

__all__ = [
    "EMBEDDED",
    "WRITE",
    "Base",
    "Columns",
    "Database",
    "Id",
    "Instant",
    "JsonObject",
    "WorkspaceBreach",
    "WorkspaceChild",
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
    "workspace_if_embedded",
    "workspace_key",
    "workspace_reference",
]
