"""The supervisor and children that end soon: by themselves, by a signal, for want of a port."""

import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.waiting import wait_for

ROOT: Final = Path(__file__).parents[2]
SUPERVISE: Final = """
import sys
from tasks.supervisor import Supervisor
sys.exit(Supervisor([("child", sys.argv[1:])]).run())
"""
SERVE: Final = """
import sys
from tasks.supervisor import Supervisor, web_command
sys.exit(Supervisor([("web server", web_command("127.0.0.1", int(sys.argv[1])))]).run())
"""
KILLED: Final = """
import os, pathlib, signal, sys
with pathlib.Path(sys.argv[1]).open("a") as starts:
    starts.write("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def supervise(code: str, *words: str) -> "subprocess.Popen[str]":
    """Start a supervisor in a process of its own."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE)


def test_a_child_that_ends_by_itself_at_once_ends_everything() -> None:
    process = supervise(SUPERVISE, sys.executable, "-c", "raise SystemExit(3)")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "ended with 3 right after its start" in said


def test_a_child_that_is_killed_at_once_is_started_again(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    process = supervise(SUPERVISE, sys.executable, "-c", KILLED, str(starts))
    try:
        wait_for(lambda: starts.exists() and len(starts.read_text()) >= 2, "a second start", 60)
    finally:
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "ended with -9; it is started again" in said


def test_a_web_server_that_loses_its_port_to_another_ends_everything() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = supervise(SERVE, str(taken.getsockname()[1]))
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "right after its start" in said


def test_whoever_stops_it_is_told_at_once_what_is_waited_for() -> None:
    command = [sys.executable, "-c", SUPERVISE, sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        wait_for(lambda: _has_child(process.pid), "the child", 60)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.startswith("Stopping; work under way is finished first")


def _has_child(pid: int) -> bool:
    return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text())


PAIR: Final = """
import sys
from tasks.supervisor import Supervisor
old = [sys.executable, "-c", "raise SystemExit(78)"]
stays = [sys.executable, "-c", "import time; time.sleep(600)"]
sys.exit(Supervisor([("worker", old), ("web server", stays)][: int(sys.argv[1])]).run())
"""


def test_a_child_older_than_the_schema_rests_and_the_others_go_on() -> None:
    process = supervise(PAIR, "2")
    assert process.stderr is not None
    assert "is not started again" in process.stderr.readline()
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said == ""


def test_where_nothing_else_is_left_the_supervisor_ends_with_the_same_code() -> None:
    process = supervise(PAIR, "1")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 78
    assert "newer Stellwerk" in said
