"""Counters in shards, entries, suppressions, product events, and the limits of a workspace."""

import sqlalchemy as sa
from alembic import op

from engine.core.db import Id, Instant, json_type

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


# What ran before the counters were kept counts too.
_RUNS = """
INSERT INTO automation_stat_shards
    (workspace_id, automation_id, shard, entered, completed, cancelled)
SELECT workspace_id, automation_id, 0, count(*),
    sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END)
FROM automation_runs GROUP BY workspace_id, automation_id
"""
_STEP_RUNS = """
INSERT INTO automation_step_stats
    (workspace_id, automation_id, step_key, shard, pending, executing, completed, failed, skipped)
SELECT runs.workspace_id, runs.automation_id, steps.step_key, 0,
    sum(CASE WHEN steps.status = 'pending' THEN 1 ELSE 0 END),
    sum(CASE WHEN steps.status = 'executing' THEN 1 ELSE 0 END),
    sum(CASE WHEN steps.status = 'completed' THEN 1 ELSE 0 END),
    sum(CASE WHEN steps.status = 'failed' THEN 1 ELSE 0 END),
    sum(CASE WHEN steps.status = 'skipped' THEN 1 ELSE 0 END)
FROM automation_step_runs AS steps
JOIN automation_runs AS runs ON runs.id = steps.automation_run_id
GROUP BY runs.workspace_id, runs.automation_id, steps.step_key
"""


def _index_again(name: str, table: str, columns: list[str], predicate: str | None) -> None:
    """Make a partial index anew with another predicate."""
    op.drop_index(name, table)
    where = None if predicate is None else sa.text(predicate)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _index_executing(predicate: str) -> None:
    name = "ix_automation_step_runs_executing"
    _index_again(name, "automation_step_runs", ["due_at", "id"], predicate)


def _index_message_id(predicate: str | None) -> None:
    name = "ix_email_sends_workspace_id_message_id"
    _index_again(name, "email_sends", ["workspace_id", "message_id"], predicate)


# The tables with most rows: their parents hold them to their workspace (schema.WorkspaceChild).
_CHILDREN = ("events", "automation_runs", "automation_step_runs", "contact_property_values")


def _drop_second_keys() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in _CHILDREN:
            op.drop_constraint(f"fk_{table}_workspace_id_workspaces", table, type_="foreignkey")


def _make_second_keys() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in _CHILDREN:
            name = f"fk_{table}_workspace_id_workspaces"
            op.create_foreign_key(name, table, "workspaces", ["workspace_id"], ["id"])


def _leave_room(percent: int) -> None:
    """Leave room on each page, so that a run or person that changes is rewritten in place."""
    if op.get_bind().dialect.name == "postgresql":
        for table in ("automation_runs", "contacts"):
            op.execute(f"ALTER TABLE {table} SET (fillfactor = {percent})")


def upgrade() -> None:
    op.create_table(
        "product_events",
        sa.Column("id", Id, nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("properties", json_type(), nullable=False),
        sa.Column("occurred_at", Instant(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("delivered_at", Instant(), nullable=True),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_product_events_workspace_id_workspaces"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_product_events")),
        sa.UniqueConstraint("public_id", name=op.f("uq_product_events_public_id")),
    )
    op.create_index(
        "ix_product_events_waiting",
        "product_events",
        ["due_at", "id"],
        unique=False,
        sqlite_where=sa.text("delivered_at IS NULL"),
        postgresql_where=sa.text("delivered_at IS NULL"),
    )

    op.create_table(
        "suppressions",
        sa.Column("id", Id, nullable=False),
        sa.Column("public_id", sa.String(length=40), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("reason", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_suppressions_workspace_id_workspaces"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppressions")),
        sa.UniqueConstraint("public_id", name=op.f("uq_suppressions_public_id")),
        sa.UniqueConstraint(
            "workspace_id", "email", name=op.f("uq_suppressions_workspace_id_email")
        ),
        sa.UniqueConstraint("workspace_id", "id", name=op.f("uq_suppressions_workspace_id_id")),
    )
    op.create_table(
        "automation_entries",
        sa.Column("automation_id", Id, autoincrement=False, nullable=False),
        sa.Column("contact_id", Id, autoincrement=False, nullable=False),
        sa.Column("entered_at", Instant(), nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "automation_id"],
            ["automations.workspace_id", "automations.id"],
            name=op.f("fk_automation_entries_workspace_id_automation_id_automations"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id", "contact_id"],
            ["contacts.workspace_id", "contacts.id"],
            name=op.f("fk_automation_entries_workspace_id_contact_id_contacts"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_automation_entries_workspace_id_workspaces"),
        ),
        sa.PrimaryKeyConstraint("automation_id", "contact_id", name=op.f("pk_automation_entries")),
    )
    op.create_index(
        "ix_automation_entries_workspace_id_contact_id",
        "automation_entries",
        ["workspace_id", "contact_id"],
    )
    deleted = sa.text("deleted_at IS NOT NULL")
    op.create_index(
        "ix_contacts_deleted",
        "contacts",
        ["workspace_id", "id"],
        sqlite_where=deleted,
        postgresql_where=deleted,
    )
    op.create_table(
        "automation_stat_shards",
        sa.Column("automation_id", Id, autoincrement=False, nullable=False),
        sa.Column("shard", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("entered", sa.Integer(), nullable=False),
        sa.Column("completed", sa.Integer(), nullable=False),
        sa.Column("cancelled", sa.Integer(), nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "automation_id"],
            ["automations.workspace_id", "automations.id"],
            name=op.f("fk_automation_stat_shards_workspace_id_automation_id_automations"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_automation_stat_shards_workspace_id_workspaces"),
        ),
        sa.PrimaryKeyConstraint("automation_id", "shard", name=op.f("pk_automation_stat_shards")),
    )
    op.create_table(
        "automation_step_stats",
        sa.Column("automation_id", Id, autoincrement=False, nullable=False),
        sa.Column("step_key", sa.String(length=60), nullable=False),
        sa.Column("shard", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pending", sa.Integer(), nullable=False),
        sa.Column("executing", sa.Integer(), nullable=False),
        sa.Column("completed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id", "automation_id"],
            ["automations.workspace_id", "automations.id"],
            name=op.f("fk_automation_step_stats_workspace_id_automation_id_automations"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_automation_step_stats_workspace_id_workspaces"),
        ),
        sa.PrimaryKeyConstraint(
            "automation_id", "step_key", "shard", name=op.f("pk_automation_step_stats")
        ),
    )
    op.add_column(
        "automations", sa.Column("stats_entered", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column(
        "automations", sa.Column("stats_active", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column(
        "automations",
        sa.Column("stats_completed", sa.Integer(), server_default="0", nullable=False),
    )

    op.add_column("email_sends", sa.Column("purpose", sa.String(length=20), nullable=True))

    op.add_column("workspaces", sa.Column("mails_per_day", sa.Integer(), nullable=True))
    op.add_column("workspaces", sa.Column("quiet_from", sa.String(length=5), nullable=True))
    op.add_column("workspaces", sa.Column("quiet_until", sa.String(length=5), nullable=True))
    op.add_column(
        "workspaces",
        sa.Column("retention_days", sa.Integer(), server_default="365", nullable=False),
    )

    _index_executing("status = 'executing' AND held_at IS NULL")
    _index_message_id("message_id IS NOT NULL")
    _leave_room(80)
    _drop_second_keys()
    op.execute(_RUNS)
    op.execute(_STEP_RUNS)


def downgrade() -> None:
    _make_second_keys()
    _leave_room(100)
    _index_message_id(None)
    _index_executing("status = 'executing'")
    op.drop_column("workspaces", "retention_days")
    op.drop_column("workspaces", "quiet_until")
    op.drop_column("workspaces", "quiet_from")
    op.drop_column("workspaces", "mails_per_day")

    op.drop_column("email_sends", "purpose")

    op.drop_column("automations", "stats_completed")
    op.drop_column("automations", "stats_active")
    op.drop_column("automations", "stats_entered")

    op.drop_table("automation_step_stats")
    op.drop_table("automation_stat_shards")
    op.drop_index("ix_contacts_deleted", "contacts")
    op.drop_table("automation_entries")
    op.drop_table("suppressions")
    op.drop_index(
        "ix_product_events_waiting",
        "product_events",
        sqlite_where=sa.text("delivered_at IS NULL"),
        postgresql_where=sa.text("delivered_at IS NULL"),
    )

    op.drop_table("product_events")
