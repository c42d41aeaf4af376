"""Commands run in the test's own process, on an installation of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from click.testing import CliRunner, Result

from app import main
from engine.core import clock
from engine.core.settings import Settings
from tests.support.stack import OWNER, PASSWORD


class Cli:
    """The command line of one installation. `env` may be changed between two commands."""

    def __init__(self, settings: Settings, clock_file: Path) -> None:
        self.home = settings.home
        self.database = settings.database
        self.env: dict[str, str | None] = {
            "STELLWERK_HOME": str(settings.home),
            "STELLWERK_DATABASE_URL": settings.database.render_as_string(hide_password=False),
            "STELLWERK_REDIS_URL": (
                settings.redis_url.get_secret_value() if settings.redis_url else None
            ),
            "STELLWERK_TESTING": "1",
            "STELLWERK_TEST_CLOCK": str(clock_file),
        }

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        """Run one command and return how it ended; a bug is raised here."""
        done = CliRunner(env=self.env).invoke(main, arguments, input=stdin, prog_name="stellwerk")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Run one command that succeeds and return what it printed."""
        done = self.run(*arguments, stdin=stdin)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    def refused(self, *arguments: str, stdin: str | None = None) -> str:
        """Run one command that fails, in one line and with nothing printed; return the line."""
        done = self.run(*arguments, stdin=stdin)
        assert done.exit_code != 0
        assert done.stdout == ""
        assert done.stderr.startswith("stellwerk: ")
        assert done.stderr.count("\n") == 1
        return done.stderr


@pytest.fixture
def cli(settings: Settings, tmp_path: Path) -> Iterator[Cli]:
    """Return the command line; what a command sets for its process is undone afterwards."""
    logs = structlog.get_config()
    yield Cli(settings, tmp_path / "offset")
    structlog.configure(**logs)
    clock.install(clock.SystemClock())


@pytest.fixture
def owned(cli: Cli) -> Cli:
    """Return the command line of an installation with the workspace Acme and its owner."""
    cli("setup", "--email", OWNER, "--password-stdin", "--workspace", "Acme", stdin=f"{PASSWORD}\n")
    return cli


@pytest.fixture
def demo(owned: Cli) -> Cli:
    """Return an installation with sample people on their way, and mails that wait."""
    owned("demo", "load")
    return owned


@pytest.fixture
def file(demo: Cli, tmp_path: Path) -> Path:
    """Return a backup of it."""
    demo("backup", str(tmp_path / "file"))
    return tmp_path / "file"
