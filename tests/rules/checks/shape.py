"""Checks of a file's shape: sizes, docstrings, return types, imports inside functions, handlers."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.checks.source import Source

FILE_LINES: Final = 300
FUNCTION_LINES: Final = 50
DOCSTRING_LINES: Final = 6
# The walker loop is the one place where any error becomes a failed item.
BLIND_HANDLERS: Final = {"engine/core/walking.py": 1}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def too_long(source: Source) -> Iterator[str]:
    """Yield files and functions over the limit; a migration's list of statements may be long."""
    if source.path.startswith("migrations/versions/"):
        return
    lines = len(source.text.splitlines())
    if lines > FILE_LINES:
        yield f"{lines} lines, at most {FILE_LINES}"
    for node in source.nodes():
        if isinstance(node, Function):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{node.name} has {length} lines, at most {FUNCTION_LINES}"


def without_return_type(source: Source) -> Iterator[str]:
    """Yield functions that do not say what they return."""
    for node in source.nodes():
        if isinstance(node, Function) and node.returns is None:
            yield f"{node.lineno}: {node.name} has no return type"


def without_docstring(source: Source) -> Iterator[str]:
    """Yield modules without an opening docstring of one to six lines."""
    text = ast.get_docstring(source.tree)
    if not text:
        yield "opens with no docstring"
    elif len(text.splitlines()) > DOCSTRING_LINES:
        yield f"opens with {len(text.splitlines())} lines of docstring, at most {DOCSTRING_LINES}"


def lazy_imports(source: Source) -> Iterator[str]:
    """Yield imports that hide inside functions."""
    for function in source.nodes():
        if isinstance(function, Function):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield f"{node.lineno}: an import inside {function.name}"


def blind_handlers(source: Source) -> Iterator[str]:
    """Yield handlers that catch everything, beyond those the file may have."""
    found = [node for node in source.nodes() if _is_blind(node)]
    allowed = BLIND_HANDLERS.get(source.path, 0)
    if len(found) > allowed:
        lines = ", ".join(str(getattr(node, "lineno", 0)) for node in found)
        yield f"{len(found)} blind handlers (lines {lines}), {allowed} allowed"


def _is_blind(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(
        name is None or (isinstance(name, ast.Name) and name.id in {"Exception", "BaseException"})
        for name in names
    )


def reads_environment(source: Source) -> Iterator[str]:
    """Yield uses of the process environment."""
    for node in source.nodes():
        if _dotted(node) in {"os.environ", "os.getenv", "os.environb"}:
            yield f"{getattr(node, 'lineno', 0)}: reads the environment"


def reads_clock(source: Source) -> Iterator[str]:
    """Yield uses of a clock other than engine.core.clock."""
    forbidden = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time"}
    for node in source.nodes():
        dotted = _dotted(node)
        if dotted and ".".join(dotted.split(".")[-2:]) in forbidden:
            yield f"{getattr(node, 'lineno', 0)}: {dotted}"


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""
