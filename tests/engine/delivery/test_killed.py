"""A real worker, killed by the kernel while a real server holds its answer back (decision C3)."""

import os
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy.engine import make_url

from engine.core.settings import Settings
from engine.delivery.kinds.smtp import Smtp
from engine.delivery.smtp_address import read_address
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN
from engine.delivery.walker import SendWalker
from tests.engine.delivery.post import POOL, Post
from tests.factories.delivery import LINKS
from tests.support.sink import HANG, SmtpSink
from tests.support.waiting import wait_for

ROOT: Final = Path(__file__).parents[3]
WORKER: Final = f"""
import engine.house
from engine.core.settings import Settings
engine.house.start(Settings.from_env()).sends.walk({POOL!r})
"""


def worker(settings: Settings, sink: SmtpSink) -> "subprocess.Popen[bytes]":
    """Start a worker of its own process on the test's database, by the machine's clock."""
    assert settings.database_url is not None
    url = make_url(settings.database_url.get_secret_value())
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        cwd=ROOT,
        env={
            "PATH": os.defpath,
            "STELLWERK_HOME": str(settings.home),
            "STELLWERK_DATABASE_URL": url.render_as_string(hide_password=False),
            "STELLWERK_SMTP_URL": sink.url,
        },
    )


@pytest.mark.parametrize(
    ("stage", "outcome"),
    [
        ("rcpt", Counter(sent=3)),
        ("data", Counter(sent=3)),
        # The body left and the answer reached nobody: it is never sent again by itself.
        ("body", Counter({"sent": 2, OUTCOME_UNKNOWN: 1})),
    ],
)
def test_a_killed_worker_loses_nothing_and_doubles_nothing(
    post: Post, settings: Settings, sink: SmtpSink, stage: Any, outcome: Counter[str]
) -> None:
    ids = post.queue(3)
    sink.answer(stage, HANG)
    process = worker(settings, sink)
    try:
        wait_for(lambda: sink.waiting.is_set() or process.poll() is not None, "the held answer")
        assert process.poll() is None, "the worker ended by itself"
    finally:
        process.kill()
        process.wait()
        sink.release()
    # Behind the lease that the dead worker took by the machine's clock.
    leases = [lease for row_id in ids if (lease := post.send(row_id).lease_until)]
    post.clock.set(max(leases) + timedelta(seconds=1))
    transport = Smtp(read_address(sink.url), "here.example")
    survivor = SendWalker(post.uow, transport, LINKS)
    survivor.sweep()
    transport.close()
    sends = [post.send(row_id) for row_id in ids]
    assert Counter(send.error_code or send.status for send in sends) == outcome
    known = {f"<{send.public_id}@acme.example>" for send in sends if send.error_code is None}
    arrived = [str(mail.message["Message-ID"]) for mail in sink.wait_for_mails(len(known))]
    assert known <= set(arrived)
    assert len(arrived) == len(set(arrived))
