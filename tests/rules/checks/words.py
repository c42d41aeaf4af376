"""Checks of words: unfinished marks, paths of one machine, refusals that nobody put into words."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from tests.rules.checks.source import ROOT, Source, called

# Put together here, so that this file does not contain what it looks for.
UNFINISHED: Final = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
RAISED: Final = "NotImplemented" + "Error"
MACHINE: Final = re.compile(r"/(?:" + "|".join(["work", "farm", "root", "home/\\w+"]) + r")/\w")
TEXTS: Final = ("*.py", "*.html", "*.md", "*.css", "*.js", "*.toml", "*.po", "*.mako")
OF_THE_COMMANDS: Final = "tasks/commands/words.py"
FOLDERS: Final = ("engine", "web", "tasks", "migrations", "templates", "static", "tests", ".ci")


def texts() -> Iterator[Source]:
    """Return every text file of the project but the locks and what others have written."""
    top = [path for path in ROOT.iterdir() if path.suffix in {".py", ".md", ".toml"}]
    top += [path for path in (ROOT / "Makefile", ROOT / ".ci" / "run") if path.exists()]
    for pattern in TEXTS:
        for folder in FOLDERS:
            top += (ROOT / folder).rglob(pattern)
    for path in sorted(set(top)):
        relative = path.relative_to(ROOT).as_posix()
        if not relative.startswith("static/vendor/"):
            yield Source(relative, path.read_text(encoding="utf-8"))


def unfinished(source: Source) -> Iterator[str]:
    """Yield marks that say "later"."""
    for number, line in enumerate(source.text.splitlines(), 1):
        found = UNFINISHED.search(line)
        if found or RAISED in line:
            yield f"{number}: {found[0] if found else RAISED}"


def machine_paths(source: Source) -> Iterator[str]:
    """Yield paths that only exist on somebody's machine."""
    for number, line in enumerate(source.text.splitlines(), 1):
        found = MACHINE.search(line)
        if found:
            yield f"{number}: {found[0]}"


def refusals(source: Source) -> set[str]:
    """Return the reasons and codes that a file of the engine refuses with."""
    found: set[str] = set()
    for node in source.nodes():
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        if name in {"Refused", "invalid", "missing"} and node.args:
            found |= _literals(node.args[0])
        elif name == "Problem" and len(node.args) > 1:
            found |= _literals(node.args[1])
        elif name == "Machine":
            resources = [keyword.value for keyword in node.keywords if keyword.arg == "resource"]
            resources += node.args[:1]
            found |= {f"{text}_not_found" for value in resources for text in _literals(value)}
    return found


def worded(sources: Iterable[Source]) -> set[str]:
    """Return the keys of all dict literals in the message tables of web and command line."""
    return {
        text
        for source in sources
        if source.name == "messages.py" or source.path == OF_THE_COMMANDS
        for node in source.nodes()
        if isinstance(node, ast.Dict)
        for key in node.keys
        if key is not None
        for text in _literals(key)
    }


def _literals(node: ast.AST) -> set[str]:
    """Return the texts that an expression may be: a literal, or either side of a condition."""
    if isinstance(node, ast.IfExp):
        return _literals(node.body) | _literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()
