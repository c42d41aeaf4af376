"""Who writes which column: a status and its companions have one writer each (decision G3).

A status changes only inside `core.machine`; a lifecycle is the only caller of its two doors. The
columns a lifecycle writes beside a status, and the creation of sends, are kept in the same way.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import engine.house  # noqa: F401 - brings every room's rows
from engine.core.db import Base
from tests.rules.checks.source import Source, called, docstrings

STATUS: Final = frozenset({"status", "processing_status", "ab_test_status"})
# Columns that only one lifecycle writes. `version` alone is too common a word: see _names_owner.
COMPANIONS: Final = frozenset({"activated_at", "first_activated_at", "paused_at", "ab_variant"})
MACHINE: Final = "engine/core/machine.py"
DOORS: Final = frozenset({"transition", "transition_many"})
_SQL: Final = re.compile(r"\bUPDATE\s+\w+\s+SET\b[^;]*?\b(\w*status)\s*=", re.IGNORECASE)
_INSERT: Final = re.compile(r"INSERT\s+INTO\s+email_sends", re.IGNORECASE)


def is_lifecycle(source: Source) -> bool:
    """Return whether a file is one of the machines' homes."""
    return source.path.startswith("engine/") and source.name.endswith("lifecycle.py")


def status_writes(source: Source) -> Iterator[str]:
    """Yield every write of a status column outside the machine, creation included."""
    if source.path != MACHINE:
        yield from _writes(source, STATUS)
        yield from _sql_writes(source)


def companion_writes(source: Source) -> Iterator[str]:
    """Yield writes of a lifecycle's companion columns outside the lifecycles."""
    if not is_lifecycle(source) and source.path != MACHINE:
        yield from _writes(source, COMPANIONS)
        yield from _version_writes(source)


def foreign_doors(source: Source) -> Iterator[str]:
    """Yield calls of the machine's doors outside the lifecycles."""
    if is_lifecycle(source) or source.path.startswith("engine/core/"):
        return
    for node in source.nodes():
        if isinstance(node, ast.Call) and called(node) in DOORS:
            yield f"{node.lineno}: calls {called(node)}; a lifecycle does that"


def send_creations(source: Source) -> Iterator[str]:
    """Yield places that create rows of email_sends: constructors, inserts, texts."""
    for node in source.nodes():
        if isinstance(node, ast.Call):
            if called(node) == "EmailSend" or "EmailSend" in _inserted(node):
                yield f"{node.lineno}: creates a send"
        elif _INSERT.search(_text(node)):
            yield f"{getattr(node, 'lineno', 0)}: creates a send by text"


def _inserted(node: ast.Call) -> str:
    """Return what `node` inserts into: the row of the call that its chain of calls begins with."""
    if called(node) not in {"values", "from_select"}:
        return ""
    first: ast.expr = node
    while isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute):
        if not isinstance(first.func.value, ast.Call):
            break
        first = first.func.value
    if not isinstance(first, ast.Call) or called(first) == "update":
        return ""
    return " ".join(ast.unparse(argument) for argument in first.args)


def _writes(source: Source, columns: frozenset[str]) -> Iterator[str]:
    for node in source.nodes():
        for column in _assigned(node) & columns:
            yield f"{getattr(node, 'lineno', 0)}: assigns .{column}"
        if isinstance(node, ast.Call):
            for column in _passed(node) & columns:
                yield f"{node.lineno}: {called(node)}(…{column}…)"


def _assigned(node: ast.AST) -> set[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    return {target.attr for target in targets if isinstance(target, ast.Attribute)}


def _passed(node: ast.Call) -> set[str]:
    """Return the columns that a call writes: values(), a row's constructor, setattr."""
    name = called(node)
    if name == "setattr" and len(node.args) > 1:
        return _texts([node.args[1]])
    if name == "from_select" and node.args:
        return _texts(ast.walk(node.args[0]))
    if name == "values":
        return _keywords(node) | _keys(node)
    return _keywords(node) if name in _rows() else set()


@cache
def _rows() -> frozenset[str]:
    """Return the names of the row classes that have a column with one writer."""
    return frozenset(
        mapper.class_.__name__
        for mapper in Base.registry.mappers
        if (STATUS | COMPANIONS) & set(mapper.columns.keys())
    )


def _keywords(node: ast.Call) -> set[str]:
    return {keyword.arg for keyword in node.keywords if keyword.arg}


def _keys(node: ast.Call) -> set[str]:
    found: set[str] = set()
    for argument in node.args:
        for inner in ast.walk(argument):
            if isinstance(inner, ast.Dict):
                keys = [key for key in inner.keys if key is not None]
                found |= _texts(keys)
                found |= {key.attr for key in keys if isinstance(key, ast.Attribute)}
    return found


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    return {text for node in nodes if (text := _text(node))}


def _version_writes(source: Source) -> Iterator[str]:
    for node in source.nodes():
        assigns = "version" in _assigned(node) and "automation" in ast.unparse(node).split("=")[0]
        passes = isinstance(node, ast.Call) and "version" in _passed(node)
        if assigns or (passes and _first_row(node) == "Automation"):
            yield f"{getattr(node, 'lineno', 0)}: writes an automation's version"


def _first_row(node: ast.AST) -> str:
    """Return the row class that a call writes: of a constructor, or of update(…).values(…)."""
    if isinstance(node, ast.Call) and called(node) == "values":
        found = re.search(
            r"\b(?:update|insert|upsert)\((?:\w+, )?(?:\w+\.)*(\w+)\)", ast.unparse(node)
        )
        return found[1] if found else ""
    return called(node) if isinstance(node, ast.Call) else ""


def _sql_writes(source: Source) -> Iterator[str]:
    passed_over = docstrings(source.tree)
    for node in source.nodes():
        if node not in passed_over and _SQL.search(_text(node)):
            yield f"{getattr(node, 'lineno', 0)}: writes a status by text"
