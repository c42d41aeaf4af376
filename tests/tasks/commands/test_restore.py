"""`stellwerk restore`: all of a backup stands where something else was; what it owed goes on."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

import engine.house
from engine.automations import service
from engine.automations.models import Automation
from engine.automations.service import Wish
from engine.core import audit
from engine.core.clock import now
from engine.core.outcome import Transitioned
from engine.core.settings import Settings
from tests.tasks.commands.conftest import Cli
from tests.tasks.commands.kept import ask, counts


def test_a_restore_brings_everything_back(demo: Cli, file: Path) -> None:
    before, key = counts(demo), (demo.home / "secret.key").read_text()
    demo("demo", "remove")
    (demo.home / "secret.key").write_text("another key, made by mistake, 32 characters")
    said = demo("restore", "--replace", str(file))
    assert counts(demo) == before
    assert (demo.home / "secret.key").read_text() == key
    assert f"{before['contacts']} contacts" in said
    assert said.count("It takes the place of: 1 workspaces, 0 contacts") == 1
    demo("db", "check")
    assert ask(demo, "SELECT count(*) FROM heartbeats") == [(0,)]
    assert not [path for path in demo.home.iterdir() if path.name.endswith(".part")]


def test_what_a_backup_is_worth_is_said_before_anything_happens(demo: Cli, file: Path) -> None:
    runs = ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'")[0][0]
    said = demo("restore", "--replace", str(file)).splitlines()
    assert said[0].startswith("The backup is of ")
    assert f"{runs} runs were under way" in said[2]
    assert "--hold-mail" in said[2]


def test_held_mail_is_not_sent_and_held_people_do_not_move(demo: Cli, tmp_path: Path) -> None:
    demo("sweep", "steps")
    queued = ask(demo, "SELECT count(*) FROM email_sends WHERE status = 'queued'")[0][0]
    assert queued
    running = ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'")
    demo("backup", str(tmp_path / "file"))
    said = demo("restore", "--replace", "--hold-mail", str(tmp_path / "file"))
    assert f"{queued} mails waited" in said
    assert "Paused 3 automations" in said
    assert ask(demo, "SELECT DISTINCT status FROM automations") == [("paused",)]
    demo("sweep", "steps")
    demo("sweep", "sends")
    assert ask(demo, "SELECT status, error_code, count(*) FROM email_sends GROUP BY 1, 2") == [
        ("failed", "OUTCOME_UNKNOWN", queued)
    ]
    assert not list((demo.home / "outbox").glob("*.eml"))
    assert ask(demo, "SELECT DISTINCT on_pause FROM automations") == [("hold",)]
    assert ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'running'") == running
    free = "SELECT count(*) FROM automation_step_runs WHERE held_at IS NULL AND status = 'pending'"
    assert ask(demo, f"{free} AND due_at <= (SELECT max(paused_at) FROM automations)") == [(0,)]


def test_a_resume_after_held_mail_asks_what_becomes_of_overdue_steps(
    demo: Cli, settings: Settings, tmp_path: Path
) -> None:
    demo("backup", str(tmp_path / "file"))
    demo("restore", "--replace", "--hold-mail", str(tmp_path / "file"))
    held = {
        id_ for (id_,) in ask(demo, "SELECT id FROM automation_step_runs WHERE held_at IS NOT NULL")
    }
    assert held
    house = engine.house.start(settings)
    with house.runtime.uow.begin() as session:
        for row in session.scalars(select(Automation)).all():
            done = service.move(
                session, row.workspace_id, row.public_id, Wish("active", resume="skip"),
                audit.system("test"), now(),
            )  # fmt: skip
            assert isinstance(done, Transitioned)
    house.steps.sweep()
    house.close()
    skipped = ask(demo, "SELECT id FROM automation_step_runs WHERE status = 'skipped'")
    assert held <= {id_ for (id_,) in skipped}
    assert ask(demo, "SELECT count(*) FROM automation_runs WHERE status = 'cancelled'") == [(0,)]


def test_mail_goes_on_when_nobody_asked_to_hold_it(demo: Cli, tmp_path: Path) -> None:
    demo("sweep", "steps")
    demo("backup", str(tmp_path / "file"))
    demo("restore", "--replace", str(tmp_path / "file"))
    demo("sweep", "sends")
    assert ask(demo, "SELECT DISTINCT status FROM email_sends") == [("sent",)]
    assert list((demo.home / "outbox").glob("*.eml"))


def test_a_spoilt_database_is_replaced(demo: Cli, file: Path) -> None:
    expected = counts(demo)
    if demo.database.get_backend_name() == "sqlite":
        Path(str(demo.database.database)).write_bytes(b"spoilt by a bad disk" * 500)
        assert "cannot be read" in demo.refused("restore", str(file))
    else:
        ask(demo, "DROP TABLE sent_messages")
    demo("restore", "--replace", str(file))
    assert counts(demo) == expected


def test_a_killed_writer_leaves_nothing_that_spoils_the_restored_file(
    demo: Cli, file: Path
) -> None:
    if demo.database.get_backend_name() == "sqlite":
        path = str(demo.database.database)
        with closing(sqlite3.connect(path)) as writing:
            writing.execute("UPDATE contacts SET first_name = 'Lost'")
            writing.commit()
            for end in ("-wal", "-shm"):
                Path(f"{path}.kept{end}").write_bytes(Path(f"{path}{end}").read_bytes())
        for end in ("-wal", "-shm"):
            Path(f"{path}.kept{end}").replace(f"{path}{end}")
    demo("restore", "--replace", str(file))
    lost = "SELECT count(*) FROM contacts WHERE first_name = 'Lost'"
    assert ask(demo, lost) == [(0,)]


def test_settings_that_are_there_stay_and_the_backups_lie_beside(demo: Cli, tmp_path: Path) -> None:
    env = demo.home / "stellwerk.env"
    env.write_text("STELLWERK_WORKERS=3\n")
    demo("backup", str(tmp_path / "file"))
    env.write_text("STELLWERK_WORKERS=5\n")
    said = demo("restore", "--replace", str(tmp_path / "file"))
    assert env.read_text() == "STELLWERK_WORKERS=5\n"
    beside = demo.home / "stellwerk.env.restored"
    assert beside.read_text() == "STELLWERK_WORKERS=3\n"
    assert beside.stat().st_mode & 0o777 == 0o600
    assert "compare them" in said
    env.unlink()
    assert "are in force" in demo("restore", "--replace", str(tmp_path / "file"))
    assert env.read_text() == "STELLWERK_WORKERS=3\n"


def test_another_secret_key_is_said(demo: Cli, file: Path) -> None:
    demo.env["STELLWERK_SECRET_KEY"] = "of this machine, with 32 characters or more"
    assert "links in mails" in demo("restore", "--replace", str(file))


def test_letters_come_back_and_those_that_are_there_stay(demo: Cli, tmp_path: Path) -> None:
    outbox = demo.home / "outbox"
    outbox.mkdir(exist_ok=True)
    (outbox / "one.eml").write_text("one")
    (outbox / "two.eml").write_text("two")
    demo("backup", str(tmp_path / "file"))
    (outbox / "one.eml").unlink()
    (outbox / "two.eml").write_text("newer")
    demo("restore", "--replace", str(tmp_path / "file"))
    assert (outbox / "one.eml").read_text() == "one"
    assert (outbox / "two.eml").read_text() == "newer"


def test_hints_of_before_are_forgotten(demo: Cli, file: Path) -> None:
    def waiting() -> str:
        [line] = [line for line in demo.run("doctor").stdout.splitlines() if "queue" in line[7:13]]
        return line

    demo("sweep", "steps")
    assert " 0 hints" not in waiting()
    demo("restore", "--replace", str(file))
    assert " 0 hints" in waiting()
