"""Alembic's entry: runs on the connection that `migrations.run` hands over."""

from alembic import context

import engine.house  # noqa: F401 - brings every room's rows
from engine.core.db import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
