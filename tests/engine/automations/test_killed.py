"""Real workers, killed by the kernel at each fault point or stopped past their lease there."""

import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from sqlalchemy import select

from engine.automations.models import AutomationRun
from engine.core import faults
from engine.core.clock import FixedClock, SystemClock
from engine.core.settings import Settings
from engine.delivery.kinds.smtp import Smtp
from engine.delivery.models import SENT, EmailSend
from engine.delivery.smtp_address import read_address
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN
from engine.delivery.walker import SendWalker
from engine.house import House
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.support.killing import doomed, wait_until_stopped
from tests.support.sink import SmtpSink

PEOPLE: Final = 3
# Behind the hand-over nobody knows: the mail may have left, and is not sent again (decision C3).
UNKNOWN: Final = frozenset({"send.handed", "send.left", "send.answered"})
# Not the first pass everywhere: a later one stands in the middle of the work.
PASSES: Final = {"commit.begun": 5, "commit.written": 6, "commit.done": 4, "walk.claimed": 2}


def begin(house: House) -> None:
    """Start runs of mail, branch, mail; everything is due at once."""
    uow, at = house.runtime.uow, datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        delivery.sender(session, workspace)
        template = delivery.template(session, workspace, allow_repeat=True).public_id
        people = [
            audience.contact(session, workspace, first_name=name)
            for name in ["Ada", "Bob", "Ada"][:PEOPLE]
        ]
        steps = (make.email("one", template), make.branch("ask"), make.email("two", template))
        make.live(session, workspace, make.document(*steps), at)
        assert make.fire(session, workspace, people, at) == PEOPLE


def recover(house: House, clock: FixedClock, sink: SmtpSink) -> None:
    """Let a healthy worker finish, behind every lease that the other took by its own clock."""
    transport = Smtp(read_address(sink.url), "here.example")
    sends = SendWalker(house.runtime.uow, transport, house.sends.links)
    clock.set(SystemClock().now() + timedelta(seconds=121))
    for _ in range(4):
        house.steps.sweep()
        sends.sweep()
        clock.advance(timedelta(seconds=121))
    transport.close()


def outcome(house: House, sink: SmtpSink) -> Counter[str]:
    """Check the books and the copies at the server; return how the mails ended."""
    with house.runtime.uow.read() as session:
        assert_books(session)
        assert set(session.scalars(select(AutomationRun.status))) == {"completed"}
        sends = session.scalars(select(EmailSend)).all()
    copies = Counter(str(mail.message["Message-ID"]) for mail in sink.mails)
    assert set(copies.values()) == {1}
    for send in sends:
        known = send.status == SENT
        assert known or send.error_code == OUTCOME_UNKNOWN
        assert not known or copies[str(send.message_id)] == 1
    return Counter(send.error_code or send.status for send in sends)


@pytest.mark.parametrize("name", [name for name in faults.POINTS if not name.startswith("http")])
def test_stk_15_a_worker_killed_at_each_point_loses_nothing_and_doubles_nothing(
    house: House, clock: FixedClock, settings: Settings, sink: SmtpSink, name: str
) -> None:
    begin(house)
    process = doomed(settings, sink, f"{name}:{PASSES.get(name, 1)}:kill")
    assert process.wait(120) == -signal.SIGKILL
    recover(house, clock, sink)
    unknown = Counter({OUTCOME_UNKNOWN: 1}) if name in UNKNOWN else Counter()
    assert outcome(house, sink) == unknown + Counter(sent=2 * PEOPLE - unknown.total())


@pytest.mark.parametrize("name", ["walk.claimed", "walk.ran", "send.handing", "send.handed"])
def test_a_worker_that_stood_still_past_its_lease_writes_and_sends_nothing_more(
    house: House, clock: FixedClock, settings: Settings, sink: SmtpSink, name: str
) -> None:
    begin(house)
    process = doomed(settings, sink, f"{name}:1:stop")
    try:
        wait_until_stopped(process)
        recover(house, clock, sink)
        before = outcome(house, sink)
    finally:
        process.send_signal(signal.SIGCONT)
        assert process.wait(120) == 0
    # The one body that was handed over before the stop may still leave: once, and marked unknown.
    assert outcome(house, sink) == before
    assert before[OUTCOME_UNKNOWN] == (name in UNKNOWN)
