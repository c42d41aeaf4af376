"""Workers die, services vanish, clocks run on: every run ends, and no mail is sent twice.

The suite has time for a few runs; `make chaos` does all 2,000, with more kills over more time.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session

from engine.automations.models import AutomationRun, AutomationStepRun
from engine.delivery.models import QUEUED, SENT, EmailSend
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN
from engine.house import House
from tests.chaos.plant import THREADS, Plant
from tests.chaos.storm import Storm
from tests.chaos.tide import Tide
from tests.factories.books import assert_books
from tests.support.figures import Figures
from tests.support.leg_plugin import Leg
from tests.support.sink import SmtpSink
from tests.support.waiting import wait_for

PATIENCE: Final = 400.0


@pytest.fixture
def plant(tmp_path: Path, sink: SmtpSink, leg: Leg) -> Iterator[Plant]:
    """Return an installation with services of its own."""
    made = Plant(tmp_path / "plant", sink, leg)
    yield made
    made.close()


@pytest.mark.timeout(900)
def test_a_storm_over_two_workers_loses_no_run_and_doubles_no_mail(
    plant: Plant, figures: Figures, request: pytest.FixtureRequest
) -> None:
    runs: int = request.config.getoption("--chaos-runs")
    kills, seconds = (24, 90.0) if runs >= 2_000 else (6, 30.0)
    began = time.monotonic()
    with plant.house() as house:
        tide = Tide(house, runs, seconds)
        plant.start(2)
        tide.thread.start()
        storm = Storm(plant, random.Random(20_260_302), kills, seconds, tide.busy)
        try:
            storm.rage()
            wait_for(lambda: quiet(house, tide), "every run to end", PATIENCE, ignore=AWAY)
        finally:
            tide.stop()
        with house.runtime.uow.read() as session:
            ended, told = stock(session, plant.sink)
            assert ended == runs
            assert_books(session)
            unknown = select(func.count(EmailSend.id)).where(
                EmailSend.error_code == OUTCOME_UNKNOWN
            )
            assert (session.scalar(unknown) or 0) <= storm.cut_short() * THREADS
    figures.append(
        f"chaos on {plant.leg}: {runs} runs in {time.monotonic() - began:.0f} s; "
        + "; ".join([storm.told(), *told])
    )


AWAY: Final = (OperationalError, InterfaceError)


def quiet(house: House, tide: Tide) -> bool:
    """Return whether everybody has come, every run has ended and no mail is left."""
    if not tide.posted():
        return False
    with house.runtime.uow.read() as session:
        running = select(func.count(AutomationRun.id)).where(AutomationRun.status == "running")
        queued = select(func.count(EmailSend.id)).where(EmailSend.status == QUEUED)
        return session.scalar(running) == 0 and session.scalar(queued) == 0


def stock(session: Session, sink: SmtpSink) -> tuple[int, list[str]]:
    """Check mails and the copies at the server; return the ended runs, and figures in words."""
    runs = Counter(session.scalars(select(AutomationRun.ended_reason)).all())
    sends = session.scalars(select(EmailSend)).all()
    mails = Counter(send.error_code or send.status for send in sends)
    copies = Counter(str(mail.message["Message-ID"]) for mail in sink.mails)
    assert copies.keys() <= {str(send.message_id) for send in sends}
    for send in sends:
        left = copies[str(send.message_id)]
        assert left == 1 if send.status == SENT else left <= (send.error_code == OUTCOME_UNKNOWN)
    visit, run = AutomationStepRun, AutomationRun
    owners = session.execute(
        select(run.contact_id, visit.step_key, EmailSend.message_id)
        .join(run, run.id == visit.automation_run_id)
        .join(EmailSend, EmailSend.id == visit.email_send_id)
    )
    by_step: Counter[tuple[int, str]] = Counter()
    for contact_id, key, message_id in owners:
        by_step[contact_id, key] += copies[str(message_id)]
    assert max(by_step.values()) == 1
    executed = session.execute(select(func.count(visit.id), func.sum(visit.attempt))).one()
    return runs.total(), [
        f"ended: {_words(runs)}",
        f"mails: {_words(mails)}, in {sum(send.attempt for send in sends)} tries",
        f"copies at the server: {copies.total()}, twice: {sum(n > 1 for n in copies.values())}",
        f"{executed[0]} visits in {executed[1]} executions",
    ]


def _words(counted: Mapping[str, int] | Mapping[str | None, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counted.items(), key=str))
