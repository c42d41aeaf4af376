"""Plants each fault of `patches` into a copy of the tree and sees the tests named for it turn red.

`make mutants`, or `python -m tests.mutants NAME …` for some of them. Fails when a fault survives,
when a patch no longer finds its text exactly once, or when the tests are red without any fault.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.patches import PATCHES, Patch

ROOT: Final = Path(__file__).parents[2]
COPIED: Final = ("app.py", "pyproject.toml", "engine", "web", "tasks", "migrations", "tests",
                 "templates", "static")  # fmt: skip
AT_ONCE: Final = 2
_MOST_S: Final = 240
_RED: Final = 1  # pytest: tests ran and some failed; every other code but 0 is a fault of ours


@dataclass(frozen=True)
class Verdict:
    """How the tests of one copy ended. said: the test that failed, or what went wrong."""

    name: str
    code: int
    seconds: float
    said: str


def main(names: Sequence[str]) -> int:
    """Run the named patches, or all; print a table; return the exit code."""
    chosen = [patch for patch in PATCHES if not names or patch.name in names]
    unknown = sorted(set(names) - {patch.name for patch in PATCHES})
    stale = [fault for patch in chosen for fault in patch.faults(ROOT)]
    for line in [*(f"there is no patch {name}" for name in unknown), *stale]:
        print(f"FAILED: {line}")
    if unknown or stale or not chosen:
        return 1
    began = time.monotonic()
    whole = Patch("(no fault)", (), tuple(sorted({node for one in chosen for node in one.tests})))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        untouched, *verdicts = pool.map(judge, [whole, *chosen])
    found = complaints(untouched, verdicts)
    for verdict in (untouched, *verdicts):
        colour = {0: "green", _RED: "red"}.get(verdict.code, f"code {verdict.code}")
        print(f"{verdict.name:38}{colour:7}{verdict.seconds:5.1f} s  {verdict.said}")
    for complaint in found:
        print(f"FAILED: {complaint}")
    killed = sum(verdict.code == _RED for verdict in verdicts)
    print(f"{killed} of {len(chosen)} faults found in {time.monotonic() - began:.0f} s", flush=True)
    return 1 if found else 0


def complaints(untouched: Verdict, verdicts: Sequence[Verdict]) -> list[str]:
    """Return why the run as a whole has failed, in words."""
    found = [f"{one.name}: no test turned red" for one in verdicts if one.code == 0]
    found += [
        f"{one.name}: pytest ended with {one.code}: {one.said}"
        for one in (untouched, *verdicts)
        if one.code not in {0, _RED}
    ]
    if untouched.code == _RED:
        found.append(f"red without any fault: {untouched.said}")
    return found


def judge(patch: Patch) -> Verdict:
    """Run the tests of one patch in a copy of the tree that bears it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stellwerk-mutant-") as folder:
        copy = Path(folder)
        _copy_tree(copy)
        patch.apply(copy)
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--no-header",
            "-p", "no:randomly", f"--basetemp={copy}/.pytest", *patch.tests,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=copy, capture_output=True, text=True, timeout=_MOST_S, check=False
            )
            code, said = done.returncode, _failed(done.stdout) or done.stderr[-300:]
        except subprocess.TimeoutExpired:
            # A fault may make a walk endless; that is noticed, if by the clock alone.
            code, said = _RED, f"not over within {_MOST_S} s"
    return Verdict(patch.name, code, time.monotonic() - began, said)


def _copy_tree(copy: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copyfile(ROOT / name, copy / name)


def _failed(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0].partition(" ")[2] if lines else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
