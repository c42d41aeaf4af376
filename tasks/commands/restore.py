"""`stellwerk restore`: a backup in the place of what is here, all or nothing."""

from pathlib import Path

import click

from engine.core.settings import Settings
from tasks.backup.restoring import Wish, brief
from tasks.backup.restoring import restore as put_back


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Also where the database here is not empty.")
@click.option("--force", is_flag=True, help="Also while processes seem to be at work here.")
@click.option(
    "--hold-mail",
    is_flag=True,
    help="Send nothing that was owed: waiting mails end as unknown, automations are paused.",
)
def restore(file: Path, replace: bool, force: bool, hold_mail: bool) -> None:
    """Put the backup FILE in the place of this installation's database and files.

    Says in numbers what it will do, then does it at once or not at all, brings the schema up to
    date and compares the counts. Stop web and workers before.
    """
    wish = Wish(force=force, replace=replace, hold_mail=hold_mail)
    done = put_back(Settings.from_env(), file, wish, click.echo)
    if done.paused:
        click.echo(f"Paused {done.paused} automations; resume each when you know what was sent.")
    for note in done.notes:
        click.echo(note)
    click.echo(f"Restored: {brief(done.after)}. Start with `stellwerk up`.")
