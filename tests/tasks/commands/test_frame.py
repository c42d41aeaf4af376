"""How failures look: one line on stderr with the remedy, a code above 0, never a secret."""

import errno
from typing import Final

import click
import pytest
from click.testing import CliRunner
from sqlalchemy.exc import OperationalError

from engine.core.outcome import Refused, invalid
from engine.core.settings import SettingsError
from migrations.run import NewerSchema
from tasks.commands import COMMANDS
from tasks.commands.frame import Program, first_line, read_secret, refuse
from tests.support.stack import Stack
from tests.tasks.commands.conftest import Cli

AWKWARD: Final = "p^V&X@:/?#"
PARTS: Final = ("p^V&X", "^V&X@", "%5EV%26", "X%40%3A")


def run(error: Exception | None, *arguments: str) -> tuple[int, str, str]:
    """Run a program whose one command raises `error`; return code, stdout, stderr."""

    @click.command()
    @click.option("--number", type=int)
    def act(number: int | None) -> None:
        if error is not None:
            raise error
        click.echo("done")

    program = Program("stellwerk", commands={"act": act}, no_args_is_help=True)
    result = CliRunner().invoke(program, arguments or ["act"], prog_name="stellwerk")
    return result.exit_code, result.stdout, result.stderr


def test_success_prints_on_stdout_alone() -> None:
    assert run(None) == (0, "done\n", "")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SettingsError("STELLWERK_PORT is wrong."), "STELLWERK_PORT is wrong."),
        (NewerSchema("made by a newer Stellwerk."), "made by a newer Stellwerk."),
        (click.ClickException("two\nlines\n"), "two lines"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "Permission denied: /x."),
        (
            OperationalError("SELECT secret", {"a": AWKWARD}, Exception("no route.\nmore")),
            "the database refused: no route. Check STELLWERK_DATABASE_URL",
        ),
    ],
)
def test_a_failure_is_one_line_on_stderr(error: Exception, said: str) -> None:
    code, out, err = run(error)
    assert (code, out) == (1, "")
    assert err.startswith(f"stellwerk: {said}")
    assert err.count("\n") == 1
    assert AWKWARD not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["paint"], "See `stellwerk --help`."),
        (["act", "--number", "x"], "See `stellwerk act --help`."),
        (["act", "--paint"], "See `stellwerk act --help`."),
        (["act", "more"], "See `stellwerk act --help`."),
    ],
)
def test_a_wrong_call_says_where_the_help_is(arguments: list[str], said: str) -> None:
    code, out, err = run(None, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_bug_is_not_hidden() -> None:
    result = CliRunner().invoke(
        Program("stellwerk", commands={"act": click.Command("act", callback=lambda: 1 / 0)}),
        ["act"],
    )
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (invalid("weak_key", "/value", shortest=24, longest=200), "must have 24 to 200 printable"),
        (Refused("something_new"), "Refused: something_new."),
    ],
)
def test_a_refusal_becomes_a_sentence(refused: Refused, said: str) -> None:
    with pytest.raises(click.ClickException, match=said):
        refuse(refused)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (b"secret\n", "secret"),
        (b"secret\r\n", "secret"),
        (b"secret", "secret"),
        (b" two words \nsecond line\n", " two words "),
        ("p^V&X@:/?# ü\n".encode(), "p^V&X@:/?# ü"),
        (b"secret\r\r\n", "secret\r"),
        (b"\n", ""),
        (b"", ""),
    ],
)
def test_one_line_is_read_and_only_its_end_is_cut(given: bytes, read: str) -> None:
    seen: list[str] = []
    command = click.Command("c", callback=lambda: seen.append(read_secret("it", asked=True)))
    assert CliRunner().invoke(command, input=given).exit_code == 0
    assert seen == [read]


@pytest.mark.parametrize(
    ("given", "asked", "said"),
    [(b"\xff\n", True, "not UTF-8"), (b"x\n", False, "--password-stdin")],
)
def test_a_secret_that_cannot_be_read_is_refused(given: bytes, asked: bool, said: str) -> None:
    command = click.Command("c", callback=lambda: read_secret("The password", asked=asked))
    result = CliRunner().invoke(command, input=given)
    assert result.exit_code != 0
    assert said in result.stderr


@pytest.mark.parametrize(
    ("error", "line"),
    [(ValueError("a.\nb"), "a"), (ValueError(), "ValueError"), (None, "no reason given")],
)
def test_a_driver_is_quoted_with_its_first_line(error: Exception | None, line: str) -> None:
    assert first_line(error) == line


def paths(commands: dict[str, click.Command]) -> list[list[str]]:
    """Return the words of every command and group."""
    found: list[list[str]] = []
    for name, command in commands.items():
        found.append([name])
        if isinstance(command, click.Group):
            found += [[name, *path] for path in paths(dict(command.commands))]
    return found


@pytest.mark.parametrize("path", paths(dict(COMMANDS)), ids=" ".join)
def test_every_command_explains_itself(path: list[str]) -> None:
    program = Program("stellwerk", commands=dict(COMMANDS))
    result = CliRunner().invoke(program, [*path, "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout
    described = result.stdout.partition("Options:")[0].strip().splitlines()
    assert len(described) > 1


def test_without_a_command_the_help_is_shown(cli: Cli) -> None:
    done = cli.run()
    assert done.exit_code != 0
    for name in COMMANDS:
        assert f"  {name} " in done.stderr


@pytest.mark.parametrize(
    "command", [["setup", "--email", "a@acme.example"], ["db", "upgrade"], ["up"]]
)
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("STELLWERK_PROT", "80", "STELLWERK_PROT is not a setting of Stellwerk"),
        ("STELLWERK_PORT", "eighty", "STELLWERK_PORT input should be a valid integer"),
        ("STELLWERK_SMTP_URL", f"http://u:{AWKWARD}@h", "STELLWERK_SMTP_URL must be an smtp://"),
        ("STELLWERK_DATABASE_URL", f"mysql://u:{AWKWARD}@h/x", "STELLWERK_DATABASE_URL must be"),
    ],
)
def test_a_wrong_setting_stops_every_command_in_one_line(
    cli: Cli, command: list[str], name: str, value: str, said: str
) -> None:
    cli.env[name] = value
    arguments = [*command, "--password-stdin"] if command[0] == "setup" else command
    line = cli.refused(*arguments, stdin="correct horse battery staple\n")
    assert line.startswith(f"stellwerk: {said}")
    assert secret_free(line)


def test_an_awkward_password_starts_and_stands_in_no_log(stack: Stack) -> None:
    """Field report UPG-03: nothing of it is printed, whether the start succeeds or fails."""
    stack.env["STELLWERK_SMTP_URL"] = f"smtp://ada:{AWKWARD}@127.0.0.1:9?starttls=off"
    stack.env["STELLWERK_DATABASE_URL"] = stack.database_url.replace(
        "://postgres@", f"://postgres:{AWKWARD}@"
    )
    assert stack.try_cli("db", "check").returncode == 0
    stack.setup()
    stack.start("up", "--no-demo")
    stack.wait_until_ready()
    doctor = stack.try_cli("doctor")
    assert doctor.returncode == 1
    assert "FAULT  mail" in doctor.stdout
    stack.stop(stack.processes[0])
    assert secret_free(doctor.stdout + doctor.stderr + stack.logs())


def test_an_unreachable_database_is_one_line_without_its_password(cli: Cli) -> None:
    cli.env["STELLWERK_DATABASE_URL"] = f"postgresql+psycopg://ada:{AWKWARD}@127.0.0.1:9/x"
    line = cli.refused("db", "upgrade")
    assert line.startswith("stellwerk: the database refused: ")
    assert secret_free(line)


def secret_free(text: str) -> bool:
    """Return whether no part of the awkward password stands in `text`, quoted or not."""
    return not any(part in text for part in PARTS)
