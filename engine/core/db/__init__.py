"""The database floor: declarative base and types, engines and sessions, workspace guard, batches."""

from engine.core.db.batch import batch_table
from engine.core.db.engine import WRITE, Database, make_engine
from engine.core.db.guard import WorkspaceBreach, scope
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
    "Database",
    "Id",
    "Instant",
    "JsonObject",
    "WorkspaceBreach",
    "WorkspaceRow",
    "batch_table",
    "json_type",
    "make_engine",
    "scope",
    "workspace_key",
    "workspace_reference",
]
