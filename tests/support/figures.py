"""Figures that a test measured, printed at the end of the run; and how much is to be measured."""

from typing import Any, Final

import pytest

Figures = list[str]
_FIGURES: Final = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the size of the chaos run."""
    parser.addoption("--chaos-runs", type=int, default=240, help="runs in tests/chaos; all: 2000")


def pytest_configure(config: pytest.Config) -> None:
    """Begin without figures."""
    config.stash[_FIGURES] = []


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was measured."""
    if config.stash[_FIGURES]:
        terminalreporter.section("figures")
        for line in config.stash[_FIGURES]:
            terminalreporter.write_line(line)


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Return the list of lines to print at the end of the run."""
    kept: Figures = request.config.stash[_FIGURES]
    return kept
