"""The real processes of a test end with it, whatever became of the one that started them."""

import os
import signal
import subprocess
import sys

from tests.support.stack import Stack
from tests.support.waiting import wait_for

ORPHANING = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()'], stdin=0)"


def test_a_child_that_outlives_its_parent_is_found_and_ended(stack: Stack) -> None:
    reader, writer = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHANING], env=stack.env, stdin=reader, start_new_session=True
    )
    stack.processes.append(parent)
    assert parent.wait(20) == 0
    [orphan] = stack.left()
    assert orphan != parent.pid
    stack.close()
    wait_for(lambda: stack.left() == [], "the end of the orphan")
    os.close(reader)
    os.close(writer)


def test_killing_takes_the_whole_group(stack: Stack) -> None:
    waiting = ORPHANING + "; input()"
    reader, writer = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", waiting], env=stack.env, stdin=reader, start_new_session=True
    )
    stack.processes.append(parent)
    wait_for(lambda: len(stack.left()) == 2, "parent and child")
    stack.kill(parent)
    assert parent.returncode == -signal.SIGKILL
    wait_for(lambda: stack.left() == [], "the end of both")
    os.close(reader)
    os.close(writer)
