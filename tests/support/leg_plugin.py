"""The leg of a run: which database and queue the tests use, and the record of what they did.

`--leg` chooses; `--leg-record` names a JSON file for the node ids and counts, which
`tests/legs.py` compares between the legs. `--leg-own` leaves out what cannot tell the legs apart.
"""

import json
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from tests.support import programs

Leg = Literal["sqlite", "postgres"]
FOREIGN: Final = {"sqlite": "only_postgres", "postgres": "only_sqlite"}


class Record:
    """What a leg collected, and how each test ended."""

    def __init__(self) -> None:
        self.collected: list[str] = []
        self.elsewhere: list[str] = []
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skipped: dict[str, str] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Count one phase of one test; a failure in any phase outweighs a pass."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped[report.nodeid] = _reason(report)
        elif report.when == "call":
            self.passed.add(report.nodeid)

    def left_out(self) -> list[str]:
        """Return what was left out for want of a program, each once."""
        reasons = (reason.partition(programs.LEFT_OUT) for reason in self.skipped.values())
        return sorted({what for _before, mark, what in reasons if mark})

    def as_json(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return {
            "collected": sorted(self.collected),
            "elsewhere": sorted(self.elsewhere),
            "passed": len(self.passed - self.failed),
            "failed": sorted(self.failed),
            "skipped": self.skipped,
            "left_out": self.left_out(),
        }


_RECORD: Final = pytest.StashKey[Record]()


def _reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the legs."""
    group = parser.getgroup("legs")
    group.addoption("--leg", choices=sorted(FOREIGN), default="sqlite", help="database and queue")
    group.addoption("--leg-record", type=Path, help="JSON file for node ids and counts")
    group.addoption("--leg-own", action="store_true", help="only tests that ask for `leg`")


def pytest_configure(config: pytest.Config) -> None:
    """Begin an empty record; a leg that is told to end stops its servers, as on Ctrl-C."""
    config.stash[_RECORD] = Record()
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the other leg's own folder alone."""
    return True if collection_path.name == FOREIGN[config.getoption("--leg")] else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note the node ids; with --leg-own, leave to the other leg what does not ask for `leg`.

    `leg` is the one fixture that knows the leg: whoever asks for it through none of its fixtures
    does the same on both.
    """
    record = config.stash[_RECORD]
    record.collected = [item.nodeid for item in items]
    if not config.getoption("--leg-own"):
        return
    left = [item for item in items if not asks_for_leg(item)]
    record.elsewhere = [item.nodeid for item in left]
    items[:] = [item for item in items if asks_for_leg(item)]
    config.hook.pytest_deselected(items=left)


def asks_for_leg(item: pytest.Item) -> bool:
    """Return whether a test or one of its fixtures names `leg`, or its folder is of one leg."""
    alone = any(name in item.path.parts for name in FOREIGN.values())
    return alone or (isinstance(item, pytest.Function) and "leg" in item.fixturenames)


def require_leg(item: pytest.Item) -> None:
    """Refuse what hangs on the leg to a test that does not name it, so that none hides it."""
    if not asks_for_leg(item):
        raise RuntimeError(f"{item.nodeid} hangs on the leg without asking for it")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how each phase of each test ended."""
    report = yield
    item.config.stash[_RECORD].add(report)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the record; to have left everything to the other leg is no failure."""
    if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        left_everything = bool(session.config.stash[_RECORD].elsewhere)
        session.exitstatus = pytest.ExitCode.OK if left_everything else session.exitstatus
    target: Path | None = session.config.getoption("--leg-record")
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(session.config.stash[_RECORD].as_json(), indent=1))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was left out for want of a program."""
    left_out = config.stash[_RECORD].left_out()
    if left_out:
        terminalreporter.section("left out for want of a program")
        for what in left_out:
            terminalreporter.write_line(what)


@pytest.fixture(scope="session")
def leg(request: pytest.FixtureRequest) -> Leg:
    """Return which leg runs: `sqlite` (with SQLite queue) or `postgres` (with Redis)."""
    chosen: Leg = request.config.getoption("--leg")
    return chosen
