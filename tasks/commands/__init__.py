"""The command line's commands, one file each; what exists is listed here and nowhere else."""

from collections.abc import Mapping
from typing import Final

import click

from tasks.commands.apikey import apikey
from tasks.commands.db import db
from tasks.commands.doctor import doctor
from tasks.commands.setup import setup
from tasks.commands.user import user

COMMANDS: Final[Mapping[str, click.Command]] = {
    "setup": setup,
    "user": user,
    "apikey": apikey,
    "db": db,
    "doctor": doctor,
}
