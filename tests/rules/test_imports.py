"""The import contracts of pyproject.toml hold, and each one catches a planted breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.checks.source import ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
MODULES = (
    "engine.core.db", "engine.accounts.service", "engine.audience.service", "engine.rules.service",
    "engine.delivery.service", "engine.automations.service", "engine.house",
    "web.views", "tasks.worker",
)  # fmt: skip
BREACHES = [
    ("engine.core.db", "flask"),
    ("engine.automations.service", "huey"),
    ("engine.delivery.service", "werkzeug"),
    ("engine.automations.service", "web.views"),
    ("engine.house", "tasks.worker"),
    ("web.views", "tasks.worker"),
    ("tasks.worker", "web.views"),
    ("engine.core.db", "engine.accounts.service"),
    ("engine.audience.service", "engine.rules.service"),
    ("engine.delivery.service", "engine.automations.service"),
    ("engine.automations.service", "engine.house"),
]


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LINT_IMPORTS, "--no-cache"],
        cwd=folder, env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def _skeleton(folder: Path) -> None:
    for module in MODULES:
        path = folder.joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in path.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.py").touch()
        path.touch()
    shutil.copy(ROOT / "pyproject.toml", folder)


def test_a_room_that_stands_nowhere_is_found(tmp_path: Path) -> None:
    _skeleton(tmp_path)
    (tmp_path / "engine" / "utils.py").touch()
    done = _lint(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr


def test_the_contracts_hold() -> None:
    done = _lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_a_skeleton_without_breach_passes(tmp_path: Path) -> None:
    _skeleton(tmp_path)
    done = _lint(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("importer", "imported"), BREACHES)
def test_a_planted_import_is_found(tmp_path: Path, importer: str, imported: str) -> None:
    _skeleton(tmp_path)
    path = tmp_path.joinpath(*importer.split(".")).with_suffix(".py")
    path.write_text(f"import {imported}\n")
    done = _lint(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
