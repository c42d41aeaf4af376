"""What every command shares: one line for an error, a started installation, a line from stdin.

Owns how failures look: on stderr, in one line with the remedy, never with a secret. Words of
refusals by accounts and delivery stand in `words`.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import click
from sqlalchemy.exc import DBAPIError

from engine.core import boot
from engine.core.boot import Runtime
from engine.core.outcome import Refused
from engine.core.settings import Settings, SettingsError
from migrations import run
from tasks.commands.words import sentence

# Longer than any password or key; a line beyond it is no line a person meant.
_LONGEST_LINE: Final = 8192


class Program(click.Group):
    """The whole command line; ends every failure with one line on stderr and a code above 0."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command and leave the process with its code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(error.exit_code)
        except click.ClickException as error:
            _end(_asked_wrongly(error), error.exit_code)
        except (SettingsError, run.NewerSchema, DBAPIError, OSError) as error:
            _end(_broken(error))
        except click.Abort:
            _end("stopped.", 130)
        sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def installation(*, migrate: bool = False) -> Iterator[Runtime]:
    """Yield the started floor of this installation and let go of it at the end.

    migrate: bring the schema up to date first. Raises SettingsError and NewerSchema.
    """
    runtime = boot.boot(Settings.from_env())
    try:
        if migrate:
            run.upgrade(runtime.database.engine)
        yield runtime
    finally:
        runtime.database.dispose()


def refuse(refused: Refused) -> NoReturn:
    """End the command with the words for a refusal."""
    raise click.ClickException(sentence(refused))


def read_secret(what: str, *, asked: bool) -> str:
    """Return one line from stdin without its line end.

    asked: whether --password-stdin was given; a password never travels as an argument, where the
    list of processes shows it.
    """
    if not asked:
        raise click.UsageError(f"Give {what} as one line on stdin, together with --password-stdin.")
    line = sys.stdin.buffer.readline(_LONGEST_LINE)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise click.ClickException(f"{what} on stdin is not UTF-8.") from None
    return text.removesuffix("\n").removesuffix("\r")


def _asked_wrongly(error: click.ClickException) -> str:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.format_message()} See `{error.ctx.command_path} --help`."
    return error.format_message()


def _broken(error: Exception) -> str:
    if isinstance(error, DBAPIError):
        # Only the driver's own words: the whole text would hold the statement and its values.
        return (
            f"the database refused: {first_line(error.orig)}. "
            "Check STELLWERK_DATABASE_URL, or run `stellwerk db upgrade`."
        )
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename or 'no file'}. Check the path and its owner."
    return str(error)


def first_line(error: BaseException | None) -> str:
    """Return the first line of what a driver says, without a full stop."""
    if error is None:
        return "no reason given"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def _end(message: str, code: int = 1) -> NoReturn:
    click.echo(f"stellwerk: {' '.join(message.split())}", err=True)
    sys.exit(code)
