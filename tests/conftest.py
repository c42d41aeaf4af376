"""What every test may ask for. The fixtures themselves live in tests/support, one file a topic."""

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.support.leg_plugin",
    "tests.support.sink",
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
