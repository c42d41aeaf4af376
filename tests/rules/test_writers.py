"""One writer per status column, its companions, and the creation of sends (decision G3)."""

import pytest

from tests.rules.checks import writers
from tests.rules.checks.source import Check, breaches, snippet, sources

PRODUCT = ("engine", "web", "tasks")
PLANTED: list[tuple[Check, str]] = [
    (writers.status_writes, "run.status = 'failed'\n"),
    (writers.status_writes, "setattr(run, 'status', 'failed')\n"),
    (writers.status_writes, "update(AutomationRun).where(True).values(status='failed')\n"),
    (writers.status_writes, "update(T).values({'processing_status': 'x', 'a': 1})\n"),
    (writers.status_writes, "update(T).values({T.status: 'x'})\n"),
    (writers.status_writes, "insert(T).values([{'status': 'x'}])\n"),
    (writers.status_writes, "insert(T).from_select(['id', 'status'], q)\n"),
    (writers.status_writes, "AutomationRun(status='running')\n"),
    (writers.status_writes, "text('UPDATE automations SET a = 1, status = :s')\n"),
    (writers.companion_writes, "automation.paused_at = at\n"),
    (writers.companion_writes, "automation.version += 1\n"),
    (writers.companion_writes, "update(Automation).values(version=2)\n"),
    (writers.companion_writes, "update(EmailSend).values({'ab_variant': 'b'})\n"),
    (writers.foreign_doors, "machine.transition(session, M, 1, 'x', actor, at)\n"),
    (writers.foreign_doors, "transition_many(session, M, ('a', 'b'), [], {})\n"),
    (writers.send_creations, "session.add(EmailSend(contact_id=1))\n"),
    (writers.send_creations, "insert(EmailSend).from_select([], q)\n"),
    (writers.send_creations, "build(EmailSend).values(contact_id=1).returning(1)\n"),
    (writers.send_creations, "upsert(session, EmailSend).from_select([], q).returning(1)\n"),
    (writers.companion_writes, "upsert(session, Automation).values(version=2)\n"),
    (writers.send_creations, "sa.insert(models.EmailSend).values(contact_id=1)\n"),
    (writers.send_creations, "text('INSERT INTO email_sends (id) VALUES (1)')\n"),
]


def test_a_status_is_written_by_the_machine_alone() -> None:
    assert breaches(writers.status_writes, sources(*PRODUCT)) == []


def test_companions_of_a_status_are_written_by_its_lifecycle() -> None:
    assert breaches(writers.companion_writes, sources(*PRODUCT)) == []


def test_only_a_lifecycle_opens_the_doors_of_the_machine() -> None:
    assert breaches(writers.foreign_doors, sources(*PRODUCT)) == []


def test_send_rows_are_created_in_one_file_of_delivery() -> None:
    files = {line.split(":")[0] for line in breaches(writers.send_creations, sources(*PRODUCT))}
    assert len(files) == 1, files
    assert files.pop().startswith("engine/delivery/")


@pytest.mark.parametrize(("check", "planted"), PLANTED)
def test_a_planted_breach_is_found(check: Check, planted: str) -> None:
    assert list(check(snippet(planted)))


@pytest.mark.parametrize(
    "harmless",
    [
        "if run.status == 'failed': pass\n",
        "answer = {'status': run.status}\n",
        "template.version += 1\n",
        "update(Template).values(version=2)\n",
        "update(EmailSend).where(True).values(contact_id=1)\n",
        "AutomationRun(contact_id=1, **born(RUNS, 'running'))\n",
    ],
)
def test_reading_and_other_columns_are_no_breach(harmless: str) -> None:
    for check in (writers.status_writes, writers.companion_writes, writers.send_creations):
        assert list(check(snippet(harmless))) == []


def test_a_lifecycle_may_write_what_belongs_to_it() -> None:
    patch = "Change(patch={'paused_at': at}, action='x')\ntransition(s, M, 1, 'x', a, at)\n"
    home = snippet(patch, "engine/automations/lifecycle.py")
    assert not list(writers.foreign_doors(home))
    assert not list(writers.companion_writes(home))
