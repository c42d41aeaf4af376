"""The database floor: base and types, engines and sessions, workspace guard, batches."""

from engine.core.db.batch import (
    Columns,
    always,
    among,
    among_bound,
    batch_table,
    many,
    packed,
    rows_table,
    upsert,
    upsert_of,
)
from engine.core.db.beginning import begins_with
from engine.core.db.engine import WRITE, Database, make_engine
from engine.core.db.guard import WorkspaceBreach, scope, scope_of
from engine.core.db.paging import next_cursor, older
from engine.core.db.prepared import Prepared, dialect_of, table_of, within_scope
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
from engine.core.db.yielding import gave_way

__all__ = [
    "EMBEDDED",
    "WRITE",
    "Base",
    "Columns",
    "Database",
    "Id",
    "Instant",
    "JsonObject",
    "Prepared",
    "WorkspaceBreach",
    "WorkspaceChild",
    "WorkspaceRow",
    "always",
    "among",
    "among_bound",
    "batch_table",
    "begins_with",
    "dialect_of",
    "gave_way",
    "json_type",
    "make_engine",
    "many",
    "next_cursor",
    "older",
    "packed",
    "rows_table",
    "scope",
    "scope_of",
    "table_of",
    "upsert",
    "upsert_of",
    "within_scope",
    "workspace_if_embedded",
    "workspace_key",
    "workspace_reference",
]
