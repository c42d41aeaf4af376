"""What every test may ask for. The fixtures themselves live in tests/support, one file a topic."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support.servers import in_memory

pytest_plugins = [
    "tests.support.leg_plugin",
    "tests.support.warm",
    "tests.support.figures",
    "tests.support.database",
    "tests.support.house",
    "tests.support.stack",
    "tests.support.sink",
    "tests.support.opensmtpd",
    "tests.support.receiver",
    "tests.support.browser",
]

# Repeatable in the suite: a found example becomes a test of its own, never a flaky build.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Forget the settings of the person who runs the tests; only the runner's own name stays.

    The folders of tests lie in memory where there is room, or where the person said.
    """
    for name in [name for name in os.environ if name.startswith("STELLWERK_")]:
        if name != "STELLWERK_REQUIRE":
            del os.environ[name]
    place = in_memory()
    if place is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))
