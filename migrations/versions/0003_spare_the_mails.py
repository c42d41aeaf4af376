"""Fewer indexes for each mail, an opt-out that outlives its contact, and what failed last."""

import hashlib

import sqlalchemy as sa
from alembic import op

from engine.core.db import Id, Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Held to their workspace by the contact or the send they belong to (schema.WorkspaceChild).
_CHILDREN = ("email_sends", "sent_messages")
_BY_PERSON = "ix_email_sends_workspace_id_contact_id_"
_PART = 1_000


# Who was passed on, and whose run ended around them, of the visits that are kept. These are counted
# once for all: a million visits looked through for each step would take the upgrade many minutes.
_APART = """
UPDATE automation_step_stats SET passed = apart.passed, departed = apart.departed
FROM (
    SELECT runs.automation_id, steps.step_key,
        sum(CASE WHEN steps.status = 'skipped' THEN 1 ELSE 0 END) AS passed,
        sum(CASE WHEN steps.status = 'failed' THEN 1 ELSE 0 END) AS departed
    FROM automation_step_runs AS steps
    JOIN automation_runs AS runs ON runs.id = steps.automation_run_id
    WHERE (steps.status = 'skipped' AND steps.attempt > 0)
        OR (steps.status = 'failed'
            AND steps.error_code IN ('RUN_ENDED', 'NOT_FOUND', 'NOT_ACTIVE'))
    GROUP BY runs.automation_id, steps.step_key
) AS apart, (
    SELECT automation_id, step_key, min(shard) AS shard
    FROM automation_step_stats GROUP BY automation_id, step_key
) AS first
WHERE automation_step_stats.automation_id = apart.automation_id
    AND automation_step_stats.step_key = apart.step_key
    AND automation_step_stats.automation_id = first.automation_id
    AND automation_step_stats.step_key = first.step_key
    AND automation_step_stats.shard = first.shard
"""


def _index(name: str, table: str, columns: list[str], predicate: str | None = None) -> None:
    where = None if predicate is None else sa.text(predicate)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _index_mails() -> None:
    op.drop_index("ix_email_sends_workspace_id_message_id", "email_sends")
    op.drop_index("ix_email_sends_workspace_id_status_id", "email_sends")
    op.drop_index(f"{_BY_PERSON}id", "email_sends")
    _index(f"{_BY_PERSON}queued_at", "email_sends", ["workspace_id", "contact_id", "queued_at"])
    rarer = "status <> 'queued' AND status <> 'sent'"
    _index("ix_email_sends_ended", "email_sends", ["workspace_id", "status", "id"], rarer)


def _index_mails_as_before() -> None:
    op.drop_index("ix_email_sends_ended", "email_sends")
    op.drop_index(f"{_BY_PERSON}queued_at", "email_sends")
    _index(f"{_BY_PERSON}id", "email_sends", ["workspace_id", "contact_id", "id"])
    name = "ix_email_sends_workspace_id_status_id"
    _index(name, "email_sends", ["workspace_id", "status", "id"])
    name, handed = "ix_email_sends_workspace_id_message_id", "message_id IS NOT NULL"
    _index(name, "email_sends", ["workspace_id", "message_id"], handed)


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
    """Leave room on each page, so that a mail on its way is rewritten in place."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE email_sends SET (fillfactor = {percent})")


def _mark_opt_outs() -> None:
    """Mark the addresses of all who have opted out, the deleted ones too."""
    connection = op.get_bind()
    people = sa.table(
        "contacts",
        sa.column("id", Id),
        sa.column("workspace_id", Id),
        sa.column("email", sa.String()),
        sa.column("unsubscribed_at", Instant()),
    )
    marks = sa.table(
        "opt_outs",
        sa.column("workspace_id", Id),
        sa.column("address_hash", sa.String()),
        sa.column("opted_out_at", Instant()),
    )
    # The newest contact of an address says what holds of it.
    newest = (
        sa.select(sa.func.max(people.c.id).label("id"))
        .where(people.c.email.is_not(None))
        .group_by(people.c.workspace_id, people.c.email)
        .subquery()
    )
    found = connection.execute(
        sa.select(people.c.workspace_id, people.c.email, people.c.unsubscribed_at)
        .join(newest, newest.c.id == people.c.id)
        .where(people.c.unsubscribed_at.is_not(None))
    ).all()
    rows = [
        {"workspace_id": place, "address_hash": _hash(place, email), "opted_out_at": at}
        for place, email, at in found
    ]
    for start in range(0, len(rows), _PART):
        connection.execute(sa.insert(marks), rows[start : start + _PART])


def _hash(workspace_id: int, email: str) -> str:
    return hashlib.sha256(f"{workspace_id}:{email}".encode()).hexdigest()[:32]


def _index_beginnings() -> None:
    """Index blocked addresses by bytes."""
    op.create_index(
        "ix_suppressions_begins",
        "suppressions",
        ["workspace_id", "email"],
        postgresql_ops={"email": "varchar_pattern_ops"},
    )


def upgrade() -> None:
    _index_mails()
    _index_beginnings()
    _drop_second_keys()
    _leave_room(85)
    thing = ["workspace_id", "resource", "resource_id", "id"]
    _index("ix_audit_log_workspace_id_resource_resource_id_id", "audit_log", thing)
    failed = ["automation_id", "completed_at", "id"]
    name = "ix_automation_runs_step_failed"
    _index(name, "automation_runs", failed, "ended_reason = 'step_failed'")
    deleted = "deleted_at IS NOT NULL"
    _index("ix_contacts_deleted_email", "contacts", ["workspace_id", "email"], deleted)
    op.create_table(
        "opt_outs",
        sa.Column("id", Id, nullable=False),
        sa.Column("address_hash", sa.String(length=32), nullable=False),
        sa.Column("opted_out_at", Instant(), nullable=False),
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_opt_outs_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_opt_outs")),
        sa.UniqueConstraint(
            "workspace_id", "address_hash", name=op.f("uq_opt_outs_workspace_id_address_hash")
        ),
    )
    for name in ("passed", "departed"):
        column = sa.Column(name, sa.Integer(), server_default="0", nullable=False)
        op.add_column("automation_step_stats", column)
    op.execute(_APART)
    _mark_opt_outs()


def downgrade() -> None:
    op.drop_index("ix_suppressions_begins", "suppressions")
    op.drop_column("automation_step_stats", "departed")
    op.drop_column("automation_step_stats", "passed")
    op.drop_table("opt_outs")
    op.drop_index("ix_contacts_deleted_email", "contacts")
    op.drop_index("ix_automation_runs_step_failed", "automation_runs")
    op.drop_index("ix_audit_log_workspace_id_resource_resource_id_id", "audit_log")
    _leave_room(100)
    _make_second_keys()
    _index_mails_as_before()
