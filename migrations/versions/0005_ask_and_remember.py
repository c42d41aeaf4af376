"""Requests to those who may, filters of lists under a name, an index to find people by names."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from engine.core.db import Id, Instant, json_type

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NAMED = "key IN ('email', 'first_name', 'last_name')"


def _workspace(table: str) -> list[Any]:
    """Return the column of the workspace and its foreign key."""
    name = op.f(f"fk_{table}_workspace_id_workspaces")
    return [
        sa.Column("workspace_id", Id, nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=name),
    ]


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


def _instant(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, Instant(), nullable=nullable)


def _partial(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    text = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=text, postgresql_where=text)


def upgrade() -> None:
    table = "approvals"
    op.create_table(
        table,
        _id(),
        _public_id(),
        _text("kind", 40),
        _text("resource", 40),
        _text("resource_id", 40),
        sa.Column("wanted", json_type(), nullable=False),
        _text("content_hash", 64),
        _text("note", 1000, nullable=True),
        _text("status", 20),
        _text("answer", 1000, nullable=True),
        _text("asked_by", 120),
        _instant("asked_at"),
        _text("decided_by", 120, nullable=True),
        _instant("decided_at", nullable=True),
        *_workspace(table),
        _key(table, "id"),
        _unique(table, "public_id"),
        _unique(table, "workspace_id", "id"),
    )
    op.create_index("ix_approvals_workspace_id_status_id", table, ["workspace_id", "status", "id"])
    _partial(
        "uq_approvals_pending",
        table,
        ["workspace_id", "kind", "resource_id"],
        "status = 'pending'",
        unique=True,
    )
    table = "saved_views"
    op.create_table(
        table,
        _id(),
        _public_id(),
        sa.Column("user_id", Id, nullable=False),
        _text("area", 40),
        _text("name", 80),
        _text("query", 2000),
        _instant("created_at"),
        *_workspace(table),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_saved_views_user_id_users")
        ),
        _key(table, "id"),
        _unique(table, "public_id"),
        _unique(table, "workspace_id", "id"),
        _unique(table, "workspace_id", "user_id", "area", "name"),
    )
    op.create_index(op.f("ix_saved_views_user_id"), table, ["user_id"])
    _search("contact_property_values", "names", "folded", "text", _NAMED)
    _search("contacts", "begins", "external_id", "varchar", "external_id IS NOT NULL")


def _search(table: str, name: str, column: str, kind: str, where: str) -> None:
    """Index what people are searched by, by bytes on PostgreSQL too."""
    op.create_index(
        f"ix_{table}_{name}",
        table,
        ["workspace_id", column],
        sqlite_where=sa.text(where),
        postgresql_where=sa.text(where),
        postgresql_ops={column: f"{kind}_pattern_ops"},
    )


def downgrade() -> None:
    op.drop_index("ix_contacts_begins", "contacts")
    op.drop_index("ix_contact_property_values_names", "contact_property_values")
    op.drop_table("saved_views")
    op.drop_table("approvals")
