"""What a process learns once: how a statement and a page are compiled.

The product starts one engine and one console a process and keeps what these compile. Tests start
them again and again in one process; here the later ones find what the earlier ones compiled. The
keys are the libraries' own: a statement by its structure, a page by the digest of its source.
"""

from typing import Any, Final

import pytest
from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

# More than the suite has statements of different structure: nothing is compiled twice.
_STATEMENTS: Final = 10_000


class _Shared:
    """A dialect of which a process has one; its engines share their compiled statements."""

    _one: Any = None
    _compiled: Any = None

    def __new__(cls, **_options: object) -> Any:
        if cls._one is None:
            cls._one = super().__new__(cls)
            cls._compiled = LRUCache(_STATEMENTS)
        return cls._one

    def __init__(self, **options: Any) -> None:
        if not self.__dict__:
            super().__init__(**options)

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Give a new engine the statements of its predecessors."""
        engine._compiled_cache = cls._compiled


class SharedSqlite(_Shared, SQLiteDialect_pysqlite):
    """The dialect of `sqlite://`."""

    supports_statement_cache = True


class SharedPsycopg(_Shared, PGDialect_psycopg):
    """The dialect of `postgresql+psycopg://`."""

    supports_statement_cache = True


class _Pages(BytecodeCache):
    """Compiled templates in memory."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket where its template was compiled before."""
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._kept[bucket.key] = bucket.bytecode_to_string()


def pytest_configure(config: pytest.Config) -> None:
    """Let engines and consoles of this process share what they compile."""
    registry.register("sqlite", __name__, SharedSqlite.__name__)
    registry.register("postgresql.psycopg", __name__, SharedPsycopg.__name__)
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": _Pages()}
