"""Decisions of triggers, states of drafts, acts on runs, secrets."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from engine.core.db import Id, Instant, json_type

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# What failed before says so on its run too; it is no news, so nobody is asked to look at it.
_LAST_FAILURE = """
(SELECT steps.{column} FROM automation_step_runs AS steps
 WHERE steps.automation_run_id = automation_runs.id AND steps.status = 'failed'
   AND steps.error_code <> 'RUN_ENDED'
 ORDER BY steps.id DESC LIMIT 1)
"""
_FAILED_RUNS = f"""
UPDATE automation_runs SET
    failed_step_key = {_LAST_FAILURE.format(column="step_key")},
    error_code = {_LAST_FAILURE.format(column="error_code")},
    error_message = {_LAST_FAILURE.format(column="error_message")}
WHERE status = 'cancelled' AND ended_reason = 'step_failed'
"""  # noqa: S608 - the columns stand above
# The tables with most rows: PostgreSQL has no second key to their workspace (WorkspaceChild).
_CHILDREN = frozenset({"trigger_decisions", "run_job_items", "automation_run_moves"})


def _workspace(table: str) -> list[Any]:
    """Return the column of the workspace and, where the schema has one, its foreign key."""
    column = sa.Column("workspace_id", Id, nullable=False)
    if table in _CHILDREN and op.get_bind().dialect.name == "postgresql":
        return [column]
    name = op.f(f"fk_{table}_workspace_id_workspaces")
    return [column, sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=name)]


def _parent(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    """Return the foreign key to a parent within the workspace."""
    return sa.ForeignKeyConstraint(
        ["workspace_id", column],
        [f"{parent}.workspace_id", f"{parent}.id"],
        name=op.f(f"fk_{table}_workspace_id_{column}_{parent}"),
    )


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=op.f(f"uq_{table}_{'_'.join(columns)}"))


def _id() -> sa.Column[Any]:
    return sa.Column("id", Id, nullable=False)


def _public_id() -> sa.Column[Any]:
    return sa.Column("public_id", sa.String(length=40), nullable=False)


def _text(name: str, length: int, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(length=length), nullable=nullable)


def _number(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, Instant(), nullable=nullable)


def _partial(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    text = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=text, postgresql_where=text)


def upgrade() -> None:
    _make_answers()
    _make_drafts()
    _make_acts()
    _make_secrets()
    op.execute(_FAILED_RUNS)


def _make_answers() -> None:
    table = "trigger_decisions"
    op.create_table(
        table,
        _id(),
        sa.Column("automation_id", Id, nullable=False),
        _number("automation_version"),
        sa.Column("contact_id", Id, nullable=False),
        sa.Column("event_id", Id, nullable=True),
        _text("decision", 20),
        _text("reason", 40, nullable=True),
        sa.Column("details", json_type(), nullable=True),
        _instant("decided_at"),
        *_workspace(table),
        _parent(table, "automation_id", "automations"),
        _parent(table, "contact_id", "contacts"),
        _key(table, "id"),
    )
    op.create_index(
        "ix_trigger_decisions_workspace_id_contact_id_automation_id_id",
        table,
        ["workspace_id", "contact_id", "automation_id", "id"],
    )
    table = "automation_fired_ledger"
    op.create_table(
        table,
        sa.Column("automation_id", Id, autoincrement=False, nullable=False),
        sa.Column("automation_version", sa.Integer(), autoincrement=False, nullable=False),
        _text("entity_key", 120),
        _instant("fired_at"),
        *_workspace(table),
        _parent(table, "automation_id", "automations"),
        _key(table, "automation_id", "automation_version", "entity_key"),
    )
    table = "automation_scan_state"
    op.create_table(
        table,
        sa.Column("automation_id", Id, autoincrement=False, nullable=False),
        sa.Column("automation_version", sa.Integer(), autoincrement=False, nullable=False),
        _text("trigger_type", 60),
        sa.Column("cursor", sa.Text(), nullable=False),
        _instant("scanned_through"),
        _instant("last_scanned_at", nullable=True),
        *_workspace(table),
        _parent(table, "automation_id", "automations"),
        _key(table, "automation_id", "automation_version", "trigger_type"),
    )


def _make_drafts() -> None:
    table = "automation_draft_states"
    op.create_table(
        table,
        _id(),
        sa.Column("automation_id", Id, nullable=False),
        _number("place"),
        sa.Column("document", json_type(), nullable=False),
        _text("act", 40),
        sa.Column("params", json_type(), nullable=False),
        _text("created_by", 120),
        _instant("created_at"),
        *_workspace(table),
        _parent(table, "automation_id", "automations"),
        _key(table, "id"),
        _unique(table, "workspace_id", "automation_id", "place"),
    )
    op.add_column(
        "automations", sa.Column("draft_place", sa.Integer(), server_default="0", nullable=False)
    )


def _make_acts() -> None:
    table = "run_jobs"
    op.create_table(
        table,
        _id(),
        _public_id(),
        _text("action", 20),
        _text("step_key", 60, nullable=True),
        _text("reason", 500, nullable=True),
        sa.Column("wanted", json_type(), nullable=False),
        _text("status", 20),
        sa.Column("first_run_id", Id, nullable=False),
        sa.Column("cursor", Id, nullable=True),
        _number("total"),
        _number("done"),
        _number("refused"),
        _number("attempt"),
        _instant("due_at"),
        _instant("lease_until", nullable=True),
        _text("created_by", 120),
        _instant("created_at"),
        _instant("finished_at", nullable=True),
        *_workspace(table),
        _key(table, "id"),
        _unique(table, "public_id"),
        _unique(table, "workspace_id", "id"),
    )
    _partial("ix_run_jobs_due", table, ["due_at", "id"], "status = 'running'")
    table = "run_job_items"
    op.create_table(
        table,
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("run_id", Id, autoincrement=False, nullable=False),
        _text("outcome", 20),
        _text("reason", 60, nullable=True),
        _instant("at"),
        *_workspace(table),
        _parent(table, "job_id", "run_jobs"),
        _key(table, "job_id", "run_id"),
    )
    op.create_index("ix_run_job_items_workspace_id_run_id", table, ["workspace_id", "run_id"])
    table = "automation_run_moves"
    op.create_table(
        table,
        _id(),
        sa.Column("automation_run_id", Id, nullable=False),
        sa.Column("step_run_id", Id, nullable=False),
        sa.Column("from_revision_id", Id, nullable=False),
        sa.Column("to_revision_id", Id, nullable=False),
        _instant("moved_at"),
        *_workspace(table),
        _parent(table, "automation_run_id", "automation_runs"),
        _key(table, "id"),
    )
    op.create_index(
        "ix_automation_run_moves_automation_run_id_id", table, ["automation_run_id", "id"]
    )
    table = "automation_runs"
    op.add_column(table, _text("failed_step_key", 60, nullable=True))
    op.add_column(table, _text("error_code", 60, nullable=True))
    op.add_column(table, _text("error_message", 500, nullable=True))
    op.add_column(table, _instant("attention_at", nullable=True))
    op.create_index(
        "ix_automation_runs_workspace_id_started_at_id",
        table,
        ["workspace_id", "started_at", "id"],
    )
    _partial("ix_automation_runs_failed", table, ["workspace_id", "id"], "error_code IS NOT NULL")
    _partial(
        "ix_automation_runs_attention",
        table,
        ["workspace_id", "automation_id", "failed_step_key", "error_code", "id"],
        "attention_at IS NOT NULL",
    )
    table = "automation_step_runs"
    op.add_column(table, _text("awaits", 100, nullable=True))
    op.add_column(table, sa.Column("heard", json_type(), nullable=True))
    _partial(
        "ix_automation_step_runs_awaits",
        table,
        ["workspace_id", "awaits", "automation_run_id"],
        "status = 'pending' AND awaits IS NOT NULL",
    )


def _make_secrets() -> None:
    table = "secrets"
    op.create_table(
        table,
        _id(),
        _public_id(),
        _text("name", 200),
        _text("kind", 20),
        sa.Column("sealed", sa.Text(), nullable=False),
        _text("hint", 8),
        _text("created_by", 120),
        _instant("created_at"),
        _instant("last_used_at", nullable=True),
        *_workspace(table),
        _key(table, "id"),
        _unique(table, "public_id"),
        _unique(table, "workspace_id", "id"),
        _unique(table, "workspace_id", "name"),
    )


def downgrade() -> None:
    for table in ("secrets", "automation_run_moves"):
        op.drop_table(table)
    for table in ("run_job_items", "run_jobs"):
        op.drop_table(table)
    op.drop_index("ix_automation_step_runs_awaits", "automation_step_runs")
    op.drop_column("automation_step_runs", "heard")
    op.drop_column("automation_step_runs", "awaits")
    for index in ("attention", "failed", "workspace_id_started_at_id"):
        op.drop_index(f"ix_automation_runs_{index}", "automation_runs")
    for column in ("attention_at", "error_message", "error_code", "failed_step_key"):
        op.drop_column("automation_runs", column)
    op.drop_column("automations", "draft_place")
    tables = ("automation_draft_states", "automation_scan_state", "automation_fired_ledger")
    for table in (*tables, "trigger_decisions"):
        op.drop_table(table)
