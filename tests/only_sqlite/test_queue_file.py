"""Only here, because Redis has no file: the queue file deleted, replaced, cut or spoilt."""

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.core.settings import Settings
from tasks.automations import WALK_STEPS
from tasks.consumer import QueueConsumer
from tasks.dispatch import TASKS
from tasks.queue import ENGINE, QUEUE_FILE, HandOverFailed, Queues

WALK = WALK_STEPS.name


@pytest.fixture
def file(settings: Settings) -> Path:
    """Return the path of the queue file."""
    settings.home.mkdir(parents=True, exist_ok=True)
    return settings.home / QUEUE_FILE


@pytest.fixture
def queues(settings: Settings, file: Path) -> Iterator[Queues]:
    """Return queues that have been used already."""
    made = Queues(settings, TASKS)
    made.put(ENGINE, WALK, ([1],))
    yield made
    made.close()


def _delete(file: Path) -> None:
    file.unlink()


def _delete_with_journal(file: Path) -> None:
    for path in file.parent.glob(f"{QUEUE_FILE}*"):
        path.unlink()


def _replace_by_nothing(file: Path) -> None:
    _delete_with_journal(file)
    file.touch()


def _cut(file: Path) -> None:
    file.write_bytes(b"")


def _fill_with_dust(file: Path) -> None:
    file.write_bytes(b"dust" * 5000)


def _replace_by_dust(file: Path) -> None:
    _delete_with_journal(file)
    _fill_with_dust(file)


def _drop_tables(file: Path) -> None:
    other = shutil.copy(file, file.with_suffix(".copy"))
    _replace_by_nothing(Path(other).parent / QUEUE_FILE)


@pytest.mark.parametrize(
    "harm",
    [
        _delete,
        _delete_with_journal,
        _replace_by_nothing,
        _cut,
        _fill_with_dust,
        _replace_by_dust,
        _drop_tables,
    ],
)
def test_a_harmed_file_is_a_new_queue_after_two_hints(
    queues: Queues, settings: Settings, file: Path, harm: Callable[[Path], None]
) -> None:
    harm(file)
    lost = 0
    for number in (2, 3, 4):
        try:
            queues.put(ENGINE, WALK, ([number],))
        except HandOverFailed:
            lost += 1
    assert lost <= 1
    other = Queues(settings, TASKS)
    found = [hint.args[0][0] for hint in other.by_name[ENGINE].pending()]
    other.close()
    assert found[-2:] == [3, 4]


def test_the_file_is_in_wal_mode_and_synced_normally(queues: Queues) -> None:
    connection = queues.by_name[ENGINE].storage.conn
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (1,)


def test_hue_06_a_long_reader_of_the_file_keeps_no_hint_out(
    queues: Queues, settings: Settings, file: Path
) -> None:
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM task").fetchone() == (1,)
    other = Queues(settings, TASKS)
    for number in range(2, 6):
        other.put(ENGINE, WALK, ([number],))
    taken = [queues.by_name[ENGINE].dequeue().args for _ in range(5)]
    # The reader's picture stands as long as its transaction; the work went on beside it.
    assert reader.execute("SELECT count(*) FROM task").fetchone() == (1,)
    assert taken == [([number],) for number in range(1, 6)]
    reader.close()
    other.close()


def test_an_idle_queue_is_looked_at_every_half_second(queues: Queues) -> None:
    class Pauses(threading.Event):
        """Notes how long the worker would have slept."""

        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            return False

    pauses: list[float] = []
    worker = QueueConsumer(queues.by_name[ENGINE], 1, None)._create_worker()
    worker.stop_flag = Pauses()
    queues.by_name[ENGINE].dequeue()
    for _look in range(100):
        worker.loop()
    assert len(pauses) == 100
    assert max(pauses) == 0.5
