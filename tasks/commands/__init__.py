"""The command line's commands, one file each; what exists is listed here and nowhere else."""

from collections.abc import Mapping
from typing import Final

import click

from tasks.commands.apikey import apikey
from tasks.commands.backup import backup
from tasks.commands.db import db
from tasks.commands.demo import demo
from tasks.commands.doctor import doctor
from tasks.commands.restore import restore
from tasks.commands.setup import setup
from tasks.commands.simulate import simulate
from tasks.commands.sweep import sweep
from tasks.commands.up import up
from tasks.commands.user import user
from tasks.commands.web import web
from tasks.commands.worker import worker
from tasks.commands.workspace import workspace

COMMANDS: Final[Mapping[str, click.Command]] = {
    "up": up,
    "web": web,
    "worker": worker,
    "setup": setup,
    "user": user,
    "apikey": apikey,
    "workspace": workspace,
    "db": db,
    "sweep": sweep,
    "simulate": simulate,
    "demo": demo,
    "doctor": doctor,
    "backup": backup,
    "restore": restore,
}
