"""tests/cases.toml: which test shows which public field report to be ruled out.

A table an id; `tests` names the test functions. A named test must exist, be run, and assert.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from tests.rules.checks.source import ROOT, Source, called

FILE: Final = ROOT / "tests" / "cases.toml"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def table() -> Mapping[str, Mapping[str, Any]]:
    """Return the parsed file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def faults(cases: Mapping[str, Mapping[str, Any]], owned: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the entries of the ids that we own."""
    for case in owned:
        nodes = cases.get(case, {}).get("tests", [])
        if not nodes:
            yield f"{case}: no test"
        for node in nodes:
            yield from (f"{case}: {node} {fault}" for fault in node_faults(node))


def node_faults(node: str) -> Iterator[str]:
    """Yield what is wrong with one test named as `tests/…/test_x.py::test_y`."""
    path, _, name = node.partition("::")
    if not (ROOT / path).is_file():
        yield "is in no file"
        return
    yield from function_faults(_source(path), name)


def function_faults(source: Source, name: str) -> Iterator[str]:
    """Yield whether the function is missing, marked to be left out, or asserts nothing."""
    found = [node for node in source.nodes() if isinstance(node, Function) and node.name == name]
    if not found:
        yield "does not exist"
        return
    marks = " ".join(ast.unparse(mark) for mark in found[0].decorator_list)
    body = [*ast.walk(found[0])]
    marked = "mark.skip" in marks or "mark.xfail" in marks
    if marked or any(_calls(node, {"skip", "xfail"}) for node in body):
        yield "is skipped"
    if not any(isinstance(node, ast.Assert) or _calls(node, {"raises", "expect"}) for node in body):
        yield "asserts nothing"


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and called(node) in names


@cache
def _source(path: str) -> Source:
    return Source(path, (ROOT / path).read_text(encoding="utf-8"))
