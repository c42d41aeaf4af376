"""The only place that knows everything: the engine, the web and the queue meet here."""

from typing import Final

from flask import Flask

import engine.house
from engine.core.settings import Settings
from tasks.commands import COMMANDS
from tasks.commands.frame import Program
from tasks.dispatch import connect
from web.factory import make_app

main: Final = Program(
    "stellwerk",
    commands=dict(COMMANDS),
    help="A self-hosted marketing-automation console. Start it with `stellwerk up`.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def create_app(settings: Settings | None = None) -> Flask:
    """Return the console of an installation, ready to be served (`gunicorn "app:create_app()"`).

    settings: those of the environment when left out.
    """
    settings = settings or Settings.from_env()
    _queues, dispatch = connect(settings)
    return make_app(engine.house.start(settings, dispatch).runtime)


if __name__ == "__main__":
    main()
