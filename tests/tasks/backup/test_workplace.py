"""The folder of what is not whole yet: one process at a time, and gone afterwards."""

import os
import signal
from pathlib import Path

import click
import pytest

from tasks.backup.workplace import settle, workplace


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _fail_at_work(target: Path) -> None:
    with workplace(target) as folder:
        (folder / "draft").write_text("half")
        raise ZeroDivisionError


def _hear_sigterm_at_work(target: Path) -> None:
    with workplace(target) as folder:
        (folder / "draft").write_text("half")
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal was not heard")


def test_nothing_stays_behind(tmp_path: Path) -> None:
    with workplace(tmp_path / "target") as folder:
        (folder / "draft").write_text("half")
    assert left(tmp_path) == []


def test_nothing_stays_behind_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        _fail_at_work(tmp_path / "target")
    assert left(tmp_path) == []


def test_sigterm_unwinds_as_ctrl_c_does(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        _hear_sigterm_at_work(tmp_path / "target")
    assert ended.value.code == 143
    assert left(tmp_path) == []
    assert signal.getsignal(signal.SIGTERM) == before


def test_what_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".target.part").mkdir()
    (tmp_path / ".target.part" / "draft").write_text("half")
    with workplace(tmp_path / "target") as folder:
        assert left(folder) == []


def test_two_at_work_on_one_target_are_one_too_many(tmp_path: Path) -> None:
    with workplace(tmp_path / "target") as folder:
        (folder / "draft").write_text("half")
        with pytest.raises(click.ClickException, match="another process"):
            workplace(tmp_path / "target").__enter__()
        assert left(folder) == ["draft"]


def test_a_finished_file_takes_its_name(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    with workplace(tmp_path / "old") as folder:
        (folder / "draft").write_text("new")
        settle(folder / "draft", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "new"
    assert left(tmp_path) == ["old"]
