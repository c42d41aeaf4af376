"""File stem = stored string = dict key, and no walker names a kind (decision G3, style 2)."""

import pytest

from tests.rules.checks import kinds
from tests.rules.checks.source import ROOT, Source, snippet, sources

ENGINE_FAMILIES = sorted(folder for folder in kinds.families() if folder.startswith("engine/"))
NAMES = frozenset(name for folder in ENGINE_FAMILIES for name in kinds.families()[folder])


@pytest.mark.parametrize("folder", sorted(kinds.families()))
def test_every_file_is_registered_under_its_own_name(folder: str) -> None:
    path = ROOT / folder / "__init__.py"
    registry = Source(f"{folder}/__init__.py", path.read_text())
    assert kinds.registered(registry) == kinds.families()[folder]


def test_the_engine_has_kinds_at_all() -> None:
    assert {"email", "delay", "condition", "contact_property", "event_received"} <= NAMES


def test_no_walker_names_a_kind() -> None:
    found = [
        f"{source.path}: {breach}"
        for source in sources("engine")
        for breach in kinds.named_in_walker(source, NAMES)
    ]
    assert found == []


def test_a_planted_name_is_found() -> None:
    planted = snippet(
        '"""Docs may say: email."""\nif kind == "email":\n    pass\n', "engine/x/walker.py"
    )
    assert len(list(kinds.named_in_walker(planted, {"email"}))) == 1


def test_a_registry_that_forgets_a_file_is_found() -> None:
    assert kinds.registered(snippet('STEPS = {"email": 1}\n')) != {"email", "delay"}
