"""Declarative base and column types that mean the same on SQLite and PostgreSQL."""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# Marks what a schema has on SQLite alone.
EMBEDDED: Final = "stellwerk_embedded"
JsonObject = dict[str, Any]  # raw JSON enters and leaves here


class Base(DeclarativeBase):
    """Base of every row. Rows have no relationships: queries say what they load."""

    metadata = MetaData(naming_convention=NAMING)


Id = BigInteger().with_variant(Integer(), "sqlite")


class Instant(TypeDecorator[datetime]):
    """An aware UTC instant; SQLite keeps it as `YYYY-MM-DD HH:MM:SS.ffffff` text (interface.md)."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the dialect: with zone on PostgreSQL, plain UTC text on SQLite."""
        return dialect.type_descriptor(DateTime(timezone=dialect.name == "postgresql"))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse an instant without zone; store UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("an instant needs a time zone")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else value.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - signature of the library
        """Return an aware UTC instant."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def json_type() -> TypeEngine[Any]:
    """Return the JSON column type: JSONB on PostgreSQL, JSON text on SQLite; None is SQL NULL."""
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class WorkspaceRow:
    """Mixin of every table with customer data: bears the workspace it belongs to (decision G4)."""

    workspace_id: Mapped[int] = mapped_column(Id, ForeignKey("workspaces.id"))


class WorkspaceChild(WorkspaceRow):
    """Mixin of the tables with most rows: their parent already holds them to its workspace.

    `workspace_reference` says (workspace_id, parent) → parent, and the parent names a workspace
    that exists. PostgreSQL would look that up once more for every row, and lock the one workspace
    row for everybody; there the second key is left out. SQLite cannot drop a key of a table that
    others refer to, and a look-up costs it next to nothing.
    """

    workspace_id: Mapped[int] = mapped_column(Id)


def workspace_if_embedded() -> ForeignKeyConstraint:
    """Return the foreign key to the workspace of a `WorkspaceChild`, on SQLite alone."""
    key = ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], info={EMBEDDED: True})
    key.ddl_if(dialect="sqlite")
    return key


def workspace_key() -> UniqueConstraint:
    """Return the key that composite foreign keys of other workspace tables point to."""
    return UniqueConstraint("workspace_id", "id")


def workspace_reference(column: str, table: str) -> ForeignKeyConstraint:
    """Return the foreign key (workspace_id, column) → table, so that no row points abroad."""
    return ForeignKeyConstraint(["workspace_id", column], [f"{table}.workspace_id", f"{table}.id"])
