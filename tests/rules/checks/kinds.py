"""Kinds: one file each, registered by name in an explicit dict; a walker names none of them."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.rules.checks.source import ROOT, Source, docstrings, sources

CONTRACT: Final = frozenset({"__init__", "base"})
# The files of a walk: what claims, runs, settles, hints and fans out knows no kind by name.
WALKING: Final = frozenset(
    {
        "claiming.py",
        "contexts.py",
        "deciding.py",
        "fanout.py",
        "hints.py",
        "run_records.py",
        "settling.py",
        "waking.py",
        "walker.py",
        "walking.py",
    }
)


@cache
def families() -> dict[str, frozenset[str]]:
    """Return the kinds of each family: folder of the family → stems of its files."""
    folders = {Path(source.path).parent for source in sources("engine", "web") if _is_kind(source)}
    return {
        folder.as_posix(): frozenset(
            path.stem for path in (ROOT / folder).glob("*.py") if path.stem not in CONTRACT
        )
        for folder in sorted(folders)
    }


def _is_kind(source: Source) -> bool:
    path = Path(source.path)
    return "kinds" in path.parts[:-1] and path.stem not in CONTRACT


def registered(source: Source) -> frozenset[str]:
    """Return the keys of the dict literals in a family's `__init__.py`."""
    return frozenset(
        key.value
        for node in source.nodes()
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    )


def named_in_walker(source: Source, names: Iterable[str]) -> Iterator[str]:
    """Yield string literals of a walker that are the name of a kind."""
    if source.name not in WALKING:
        return
    wanted, passed_over = set(names), docstrings(source.tree)
    for node in source.nodes():
        if isinstance(node, ast.Constant) and node not in passed_over and node.value in wanted:
            yield f"{node.lineno}: names the kind {node.value!r}"
