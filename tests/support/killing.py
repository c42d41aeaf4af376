"""A worker process that ends or stops itself at a fault point (STELLWERK_FAULTS)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from sqlalchemy.engine import make_url

from engine.core.settings import Settings
from tests.support.sink import SmtpSink
from tests.support.waiting import wait_for

ROOT: Final = Path(__file__).parents[2]
# As the timetable does it, minute after minute, with a queue that nobody reads.
WORKER: Final = """
import engine.house
from engine.core.settings import Settings
from tasks.dispatch import connect
from tasks.periodic import run_sweep
settings = Settings.from_env()
queues, dispatch = connect(settings)
house = engine.house.start(settings, dispatch)
for tick in range(1, 4):
    for name in ("steps", "sends"):
        run_sweep(house, name, tick)
"""


def doomed(settings: Settings, sink: SmtpSink, planned: str) -> "subprocess.Popen[bytes]":
    """Start a worker on the test's database, by the machine's clock. planned: STELLWERK_FAULTS."""
    assert settings.database_url is not None
    url = make_url(settings.database_url.get_secret_value())
    env = {
        "PATH": os.defpath,
        "STELLWERK_HOME": str(settings.home),
        "STELLWERK_DATABASE_URL": url.render_as_string(hide_password=False),
        "STELLWERK_SMTP_URL": sink.url,
        "STELLWERK_TESTING": "1",
        "STELLWERK_FAULTS": planned,
    }
    if settings.redis_url is not None:
        env["STELLWERK_REDIS_URL"] = settings.redis_url.get_secret_value()
    return subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=env)


def wait_until_stopped(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the process stands still; raises AssertionError when it ended instead."""

    def state() -> bool:
        assert process.poll() is None, "the worker ended by itself"
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0] == "T"

    wait_for(state, "the worker to stop itself", 60)
