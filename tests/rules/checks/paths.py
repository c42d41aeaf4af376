"""Checks of the tests that go the whole path as a person does: by what one sees, and by keys."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.checks.source import Source, called

SEEING: Final = frozenset(
    {
        "tests/browser/ground.py",
        "tests/browser/keys.py",
        "tests/browser/test_whole_path.py",
        "tests/browser/test_whole_path_by_keyboard.py",
    }
)
PRESSING: Final = frozenset(
    {"tests/browser/keys.py", "tests/browser/test_whole_path_by_keyboard.py"}
)
# What finds an element by how the page is made.
PARTS: Final = frozenset(
    {"locator", "frame_locator", "query_selector", "wait_for_selector", "get_by_test_id"}
)
# What acts on an element wherever the focus stands.
HANDS: Final = frozenset(
    {
        "check", "click", "dblclick", "dispatch_event", "drag_to", "fill", "focus", "hover",
        "press_sequentially", "select_option", "set_checked", "tap", "uncheck",
    }
)  # fmt: skip


def by_parts(source: Source) -> Iterator[str]:
    """Yield what finds an element by the parts of a page, or opens another address than `/`."""
    if source.path not in SEEING:
        return
    for node in source.nodes():
        if not isinstance(node, ast.Call):
            continue
        if called(node) in PARTS:
            yield f"{node.lineno}: {called(node)}"
        if called(node) == "goto" and ast.unparse(node.args[0]) != "f'{stack.base_url}/'":
            yield f"{node.lineno}: opens {ast.unparse(node.args[0])}"


def by_hand(source: Source) -> Iterator[str]:
    """Yield what a keyboard alone cannot do."""
    if source.path not in PRESSING:
        return
    for node in source.nodes():
        if isinstance(node, ast.Call) and called(node) in HANDS:
            yield f"{node.lineno}: {called(node)}"
