"""Runs the whole suite on SQLite with a SQLite queue and on PostgreSQL with Redis, at once.

Fails when a leg fails, when the legs collected different tests (but for tests/only_sqlite and
tests/only_postgres), when a test ran nowhere, or when anything was skipped although
STELLWERK_REQUIRE=all. With --in-turn, or on one core, the second leg waits for the first. Further
arguments go to pytest.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support import programs

ROOT: Final = Path(__file__).resolve().parent.parent
IN_TURN: Final = "--in-turn"
OWN: Final = ("tests/only_sqlite/", "tests/only_postgres/")
# Fixed, so that a failure that hangs on the order of the tests can be repeated.
ORDER_SEEDS: Final = {"sqlite": "11", "postgres": "23"}
_SUMMARY: Final = re.compile(r"^=* ?(.*\bin \d[\d.]*s\b.*?) ?=*$")


@dataclass(frozen=True)
class LegResult:
    """How one leg ended. elsewhere: of `collected`, what it left to the other leg.

    `summary` is pytest's own closing line.
    """

    name: str
    exit_code: int
    collected: frozenset[str]
    elsewhere: frozenset[str]
    passed: int
    skipped: dict[str, str]
    left_out: list[str]
    summary: str

    def common(self) -> frozenset[str]:
        """Return the node ids that the other leg must have too."""
        return frozenset(node for node in self.collected if not node.startswith(OWN))


@dataclass(frozen=True)
class Leg:
    """A leg that runs; `log` gets its output, `record` its node ids and counts."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    record: Path

    def output(self) -> Iterator[str]:
        """Yield what it prints, as it comes, until it ends."""
        with self.log.open(errors="replace") as lines:
            ended = False
            while not ended:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.2)
                ended = self.process.poll() is not None
                yield lines.read()

    def result(self) -> LegResult:
        """Return how it ended."""
        lines = self.log.read_text(errors="replace").splitlines()
        summaries = [found[1] for line in lines if (found := _SUMMARY.match(line.strip()))]
        facts = json.loads(self.record.read_text()) if self.record.exists() else {}
        return LegResult(
            name=self.name,
            exit_code=self.process.returncode,
            collected=frozenset(facts.get("collected", ())),
            elsewhere=frozenset(facts.get("elsewhere", ())),
            passed=facts.get("passed", 0),
            skipped=facts.get("skipped", {}),
            left_out=facts.get("left_out", []),
            summary=summaries[-1] if summaries else "pytest closed without a summary",
        )


def start_leg(name: str, arguments: Sequence[str], folder: Path) -> Leg:
    """Start one leg; its files lie in `folder`."""
    log, record = folder / f"{name}.log", folder / f"{name}.json"
    command = [
        sys.executable, "-m", "pytest", f"--leg={name}", f"--leg-record={record}",
        "-p", "randomly", f"--randomly-seed={ORDER_SEEDS[name]}", *arguments,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    return Leg(name, process, log, record)


def run_legs(
    names: Sequence[str], arguments: Sequence[str], folder: Path, *, at_once: bool
) -> list[LegResult]:
    """Run the legs, show what each prints in one piece, and return how they ended.

    What cannot tell the legs apart runs on the first alone.
    """
    own = {name: ["--leg-own"] for name in names[1:]}
    legs: list[Leg] = []
    for wave in [names] if at_once else [[name] for name in names]:
        begun = [start_leg(name, [*own.get(name, ()), *arguments], folder) for name in wave]
        try:
            for leg in begun:
                print(f"\n##### leg {leg.name} #####", flush=True)
                for text in leg.output():
                    print(text, end="", flush=True)
        except SystemExit:
            # Only this process was told to end; Ctrl-C reaches the legs too.
            for leg in begun:
                leg.process.terminate()
            raise
        finally:
            # They stop their servers before they end.
            for leg in begun:
                leg.process.wait()
        legs += begun
    return [leg.result() for leg in legs]


def complaints(results: Sequence[LegResult], *, strict: bool) -> list[str]:
    """Return every reason why the run as a whole has failed, in words."""
    found = [
        f"leg {leg.name}: pytest ended with {leg.exit_code}" for leg in results if leg.exit_code
    ]
    found += [f"leg {leg.name}: collected nothing" for leg in results if not leg.collected]
    for one in results:
        others = [other for other in results if other is not one]
        for other in others:
            found += [
                f"only the leg {one.name} collected {node}"
                for node in sorted(one.common() - other.common())
            ]
        ran = {node for other in others for node in other.collected - other.elsewhere}
        found += [f"no leg ran {node}" for node in sorted(one.elsewhere - ran)]
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    strict = programs.everything_is_required()
    names, left_out = choose(strict=strict)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stellwerk-legs-") as folder:
        rest = [argument for argument in arguments if argument != IN_TURN]
        at_once = IN_TURN not in arguments and (os.cpu_count() or 1) > 1
        results = run_legs(names, rest, Path(folder), at_once=at_once)
    print(f"##### {' and '.join(names)}: {time.monotonic() - began:.0f} s #####", flush=True)
    found = complaints(results, strict=strict)
    print()
    for what in sorted({*left_out, *(what for leg in results for what in leg.left_out)}):
        print(f"left out for want of a program: {what}")
    for complaint in found:
        print(f"FAILED: {complaint}")
    for leg in results:
        print(
            f"leg {leg.name}: {len(leg.collected)} collected, {leg.passed} passed,"
            f" {len(leg.skipped)} skipped, {len(leg.elsewhere)} left to the other leg"
        )
    for leg in results:
        print(f"===== {leg.summary} =====", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
