"""Runs the whole suite twice: on SQLite with a SQLite queue, and on PostgreSQL with Redis.

Prints what each leg collected and passed, and fails when a leg fails, when the legs collected
different tests (but for tests/only_sqlite and tests/only_postgres), or when anything was skipped
although STELLWERK_REQUIRE=all. Further arguments go to pytest.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support import programs

ROOT: Final = Path(__file__).resolve().parent.parent
OWN: Final = ("tests/only_sqlite/", "tests/only_postgres/")
# Fixed, so that a failure that hangs on the order of the tests can be repeated.
ORDER_SEEDS: Final = {"sqlite": "11", "postgres": "23"}
_SUMMARY: Final = re.compile(r"^=* ?(.*\bin \d[\d.]*s\b.*?) ?=*$")


@dataclass(frozen=True)
class LegResult:
    """How one leg ended. `summary` is pytest's own closing line."""

    name: str
    exit_code: int
    collected: frozenset[str]
    passed: int
    skipped: dict[str, str]
    left_out: list[str]
    summary: str

    def common(self) -> frozenset[str]:
        """Return the node ids that the other leg must have too."""
        return frozenset(node for node in self.collected if not node.startswith(OWN))


def run_leg(name: str, arguments: Sequence[str], folder: Path) -> LegResult:
    """Run one leg, show its output as it comes, and return how it ended."""
    record = folder / f"{name}.json"
    command = [
        sys.executable, "-m", "pytest", f"--leg={name}", f"--leg-record={record}",
        "-p", "randomly", f"--randomly-seed={ORDER_SEEDS[name]}", *arguments,
    ]  # fmt: skip
    summary = "pytest closed without a summary"
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            found = _SUMMARY.match(line.strip())
            summary = found[1] if found else summary
    facts = json.loads(record.read_text()) if record.exists() else {}
    return LegResult(
        name=name,
        exit_code=process.returncode,
        collected=frozenset(facts.get("collected", ())),
        passed=facts.get("passed", 0),
        skipped=facts.get("skipped", {}),
        left_out=facts.get("left_out", []),
        summary=summary,
    )


def complaints(results: Sequence[LegResult], *, strict: bool) -> list[str]:
    """Return every reason why the run as a whole has failed, in words."""
    found = [
        f"leg {leg.name}: pytest ended with {leg.exit_code}" for leg in results if leg.exit_code
    ]
    found += [f"leg {leg.name}: collected nothing" for leg in results if not leg.collected]
    if len(results) == 2:
        first, second = results
        for one, other in ((first, second), (second, first)):
            found += [
                f"only the leg {one.name} collected {node}"
                for node in sorted(one.common() - other.common())
            ]
    for leg in results:
        unexpected = leg.skipped if strict else _not_left_out(leg.skipped)
        found += [f"leg {leg.name}: skipped {node} ({why})" for node, why in unexpected.items()]
    return found


def _not_left_out(skipped: dict[str, str]) -> dict[str, str]:
    return {node: why for node, why in skipped.items() if programs.LEFT_OUT not in why}


def choose(*, strict: bool) -> tuple[list[str], list[str]]:
    """Return the legs that can run here, and what is left out because a server is missing."""
    absent = programs.has_database_servers()
    if not absent:
        return ["sqlite", "postgres"], []
    missing = f"the whole leg on PostgreSQL and Redis (no {' and no '.join(absent)} here)"
    if strict:
        sys.exit(f"STELLWERK_REQUIRE=all, but missing: {missing}")
    print(f"Only the leg `sqlite` runs: {' and '.join(absent)} not found.", flush=True)
    return ["sqlite"], [missing]


def main(arguments: Sequence[str]) -> int:
    """Run the legs and return the exit code of the suite."""
    strict = programs.everything_is_required()
    names, left_out = choose(strict=strict)
    results: list[LegResult] = []
    with tempfile.TemporaryDirectory(prefix="stellwerk-legs-") as folder:
        for name in names:
            print(f"\n##### leg {name} #####", flush=True)
            began = time.monotonic()
            results.append(run_leg(name, arguments, Path(folder)))
            print(f"##### leg {name}: {time.monotonic() - began:.0f} s #####", flush=True)
    found = complaints(results, strict=strict)
    print()
    for what in sorted({*left_out, *(what for leg in results for what in leg.left_out)}):
        print(f"left out for want of a program: {what}")
    for complaint in found:
        print(f"FAILED: {complaint}")
    for leg in results:
        print(
            f"leg {leg.name}: {len(leg.collected)} collected, {leg.passed} passed,"
            f" {len(leg.skipped)} skipped"
        )
    for leg in results:
        print(f"===== {leg.summary} =====", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
