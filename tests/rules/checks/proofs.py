"""Checks of the tests themselves: each can fail, and none waits for a fixed time."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.checks.source import Source, called

# Waiting for a condition needs a pause between two looks.
MAY_SLEEP: Final = frozenset({"tests/support/waiting.py"})
SLEEPS: Final = frozenset({"sleep", "wait_for_timeout"})
ASSERTING: Final = frozenset({"raises", "expect", "warns", "fail", "wait_for"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


def fixed_waits(source: Source) -> Iterator[str]:
    """Yield calls that wait for a time instead of for a condition."""
    if source.path in MAY_SLEEP or not source.path.startswith("tests/"):
        return
    for node in source.nodes():
        if isinstance(node, ast.Call) and called(node) in SLEEPS:
            yield f"{node.lineno}: {called(node)}"


def without_assertion(source: Source) -> Iterator[str]:
    """Yield tests that assert nothing, neither themselves nor through a helper of their file."""
    functions = [node for node in source.nodes() if isinstance(node, Function)]
    asserting = {node.name for node in functions if _asserts(node)}
    for node in functions:
        if node.name.startswith("test_") and node.name not in asserting:
            calls = {called(inner) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
            if not calls & asserting and not any(
                "assert" in name or "check" in name for name in calls
            ):
                yield f"{node.lineno}: {node.name} asserts nothing"


def _asserts(function: Function) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and called(node) in ASSERTING)
        for node in ast.walk(function)
    )
