"""The project's own source files, parsed once, as the rule tests look at them."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
CODE: Final = ("engine", "web", "tasks", "migrations")
EVERYTHING: Final = (*CODE, "tests", ".ci")


@dataclass(frozen=True)
class Source:
    """One file: its path inside the project, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the parsed module."""
        return ast.parse(self.text, self.path)

    @property
    def name(self) -> str:
        """Return the file's name without folder."""
        return Path(self.path).name

    def nodes(self) -> Iterator[ast.AST]:
        """Return every node of the tree."""
        return ast.walk(self.tree)


Check = Callable[[Source], Iterable[str]]


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Return the Python files of the folders, and app.py with the product's own ones."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    if "engine" in folders and (ROOT / "app.py").exists():
        paths.append(ROOT / "app.py")
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
        if "__pycache__" not in path.parts
    )


def breaches(check: Check, files: Iterable[Source]) -> list[str]:
    """Return what `check` finds in `files`, one line each with the place."""
    return [f"{file.path}: {found}" for file in files for found in check(file)]


def snippet(text: str, path: str = "engine/room/thing.py") -> Source:
    """Return a made-up file, to show that a check finds a planted breach."""
    return Source(path, text)


def docstrings(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes that are docstrings, which checks of string literals pass over."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            found.add(body[0].value)
    return found


def called(node: ast.Call) -> str:
    """Return the last part of what a call calls: `b` for both `b()` and `a.b()`."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
