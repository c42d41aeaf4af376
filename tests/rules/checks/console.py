"""tests/checks.toml: which test would fail if the console no longer answered a question with yes.

A table a check: `asks` (in short), and `tests` (nodes as in cases.toml), `no` (what is not done,
with the reason; beside `tests`: of a part of the question) or `elsewhere` (why it asks of no page).
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.rules.checks.cases import node_faults
from tests.rules.checks.source import ROOT

FILE: Final = ROOT / "tests" / "checks.toml"
# A reason is a sentence.
REASON: Final = 30
Table = Mapping[str, Mapping[str, Any]]


def table() -> Table:
    """Return the parsed file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def faults(checks: Table, asked: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the entries of the checks that are asked of us."""
    for name in asked:
        check = checks.get(name)
        if check is None:
            yield f"{name}: not in the table"
            continue
        if not check.get("asks"):
            yield f"{name}: not said what it asks"
        if not check.keys() & {"tests", "no", "elsewhere"}:
            yield f"{name}: neither a test nor a written no"
        for kind in ("no", "elsewhere"):
            if kind in check and len(check[kind]) < REASON:
                yield f"{name}: {kind} is not reasoned"
        for node in check.get("tests", []):
            yield from (f"{name}: {node} {fault}" for fault in node_faults(node))


def noes(checks: Table) -> list[str]:
    """Return the checks that are answered with no, wholly or in part."""
    return [name for name, check in checks.items() if "no" in check]
