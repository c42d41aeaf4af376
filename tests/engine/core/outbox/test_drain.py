"""`sweep outbox` against a real receiver: every event once, back-off, halves, races, crashes."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from engine.core import outbox
from engine.core.audit import Actor
from engine.core.clock import FixedClock
from engine.core.outbox import ProductEvent
from engine.core.outbox import drain as draining
from engine.core.outbox.drain import BATCH, LEASE, Drain, drain_for, pause
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.support.house import START
from tests.support.receiver import Receiver

ADA = Actor("user:usr_ada")


@pytest.fixture
def told(settings: Settings, receiver: Receiver) -> Settings:
    """Return the settings of an installation that tells the receiver."""
    return settings.model_copy(
        update={"posthog_url": receiver.url, "posthog_key": SecretStr("the key")}
    )


@pytest.fixture
def drain(uow: UnitOfWork, told: Settings) -> Drain:
    """Return the drain towards the receiver."""
    return drain_for(uow, told)


def wait_in_line(uow: UnitOfWork, many: int) -> None:
    """Record `many` events of one workspace."""
    with uow.begin() as session:
        workspace = accounts.workspace(session)
        session.flush()
        for number in range(many):
            properties = {"automation_id": f"aut_{number}", "new_status": "paused"}
            outbox.record(session, workspace.id, "automation_paused", ADA, properties, START)


def done(delivered: int = 0, failed: int = 0, postponed: int = 0) -> dict[str, int]:
    """Return what a sweep says of itself."""
    return {"delivered": delivered, "failed": failed, "postponed": postponed}


def rows(uow: UnitOfWork) -> list[ProductEvent]:
    """Return every event."""
    with uow.read() as session:
        return list(session.scalars(select(ProductEvent).order_by(ProductEvent.id)))


def taken(receiver: Receiver) -> list[str]:
    """Return the uuids the receiver got, in order."""
    return [event["uuid"] for request in receiver.received for event in request.json["batch"]]


def test_events_arrive_in_the_format_of_posthog(
    uow: UnitOfWork, drain: Drain, receiver: Receiver
) -> None:
    wait_in_line(uow, 2)
    assert drain.sweep() == done(delivered=2)
    [request] = receiver.received
    assert (request.method, request.path) == ("POST", "/batch/")
    assert request.headers["content-type"] == "application/json"
    assert request.json["api_key"] == "the key"
    first, second = request.json["batch"]
    assert {name: value for name, value in first.items() if name != "uuid"} == {
        "event": "automation_paused",
        "distinct_id": "user:usr_ada",
        "properties": {"automation_id": "aut_0", "new_status": "paused"},
        "timestamp": START.isoformat(),
    }
    assert len(first["uuid"]) == 36
    assert first["uuid"] != second["uuid"]
    assert [row.delivered_at for row in rows(uow)] == [START, START]


def test_a_second_sweep_sends_nothing_again(
    uow: UnitOfWork, drain: Drain, receiver: Receiver
) -> None:
    wait_in_line(uow, BATCH + 5)
    assert drain.sweep() == done(delivered=BATCH + 5)
    assert drain.sweep() == done()
    assert [len(request.json["batch"]) for request in receiver.received] == [BATCH, 5]
    assert len(set(taken(receiver))) == BATCH + 5


def test_an_address_with_a_path_is_taken_as_it_stands(
    uow: UnitOfWork, settings: Settings, receiver: Receiver
) -> None:
    wait_in_line(uow, 1)
    named = settings.model_copy(update={"posthog_url": f"{receiver.url}/capture?a=b"})
    drain_for(uow, named).sweep()
    assert [request.path for request in receiver.received] == ["/capture?a=b"]


def test_without_an_address_the_rows_stay(uow: UnitOfWork, settings: Settings) -> None:
    wait_in_line(uow, 3)
    assert drain_for(uow, settings).sweep() == done()
    assert {(row.attempt, row.delivered_at) for row in rows(uow)} == {(0, None)}


@pytest.mark.parametrize("status", [401, 429, 500, 302])
def test_a_failure_backs_off_and_is_tried_again(
    uow: UnitOfWork, drain: Drain, receiver: Receiver, clock: FixedClock, status: int
) -> None:
    wait_in_line(uow, BATCH + 1)
    receiver.status = status
    assert drain.sweep() == done(failed=BATCH, postponed=1)
    assert len(receiver.received) == 1
    assert {row.due_at for row in rows(uow)} == {START + timedelta(minutes=1)}
    receiver.status = 200
    assert drain.sweep() == done(), "nothing is due before the minute is over"
    clock.advance(timedelta(minutes=1))
    assert drain.sweep() == done(delivered=BATCH + 1)
    assert {row.attempt for row in rows(uow)} == {1, 2}


def test_a_receiver_that_is_away_is_tried_ever_more_seldom(
    uow: UnitOfWork, drain: Drain, receiver: Receiver, clock: FixedClock
) -> None:
    wait_in_line(uow, 1)
    receiver.stop()
    waits: list[timedelta] = []
    for _try in range(9):
        assert drain.sweep() == done(failed=1)
        due_at = rows(uow)[0].due_at
        waits.append(due_at - clock.now())
        clock.set(due_at)
    minutes = [wait.total_seconds() / 60 for wait in waits]
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert pause(10_000) == timedelta(hours=1)


def test_one_event_that_is_refused_does_not_hold_the_others(
    uow: UnitOfWork, drain: Drain, receiver: Receiver
) -> None:
    wait_in_line(uow, 8)
    refuse(receiver, '"aut_5"')
    assert drain.sweep() == done(delivered=7, failed=1)
    [waiting] = [row for row in rows(uow) if row.delivered_at is None]
    assert waiting.properties["automation_id"] == "aut_5"


def refuse(receiver: Receiver, *bad: str) -> None:
    """Let the receiver answer 400 to whatever contains one of these texts."""

    def judge(put: Callable[[bytes], None], _over: Event) -> None:
        body = receiver.received[-1].body.decode()
        status = "400 Bad" if any(text in body for text in bad) else "200 OK"
        put(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n".encode())

    receiver.script = judge


def test_a_sweep_goes_on_behind_a_refused_event_until_nothing_is_due(
    uow: UnitOfWork, drain: Drain, receiver: Receiver
) -> None:
    wait_in_line(uow, 3 * BATCH)
    refuse(receiver, '"aut_5"', f'"aut_{BATCH + 5}"')
    assert drain.sweep() == done(delivered=3 * BATCH - 2, failed=2)
    assert not [row for row in rows(uow) if row.delivered_at is None and row.due_at <= START]


def test_a_whole_batch_of_refused_events_puts_nobody_off(
    uow: UnitOfWork, drain: Drain, receiver: Receiver
) -> None:
    wait_in_line(uow, BATCH + 7)
    refuse(receiver, *(f'"aut_{number}"' for number in range(BATCH)))
    assert drain.sweep() == done(delivered=7, failed=BATCH)


def test_a_sweep_by_hand_takes_as_long_as_it_takes_and_a_tick_only_its_budget(
    uow: UnitOfWork, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait_in_line(uow, 3 * BATCH)
    monkeypatch.setattr(draining, "BUDGET", timedelta(0))
    assert drain.tick() == done()
    assert drain.sweep() == done(delivered=3 * BATCH)


def test_two_sweeps_at_once_send_each_event_once(
    uow: UnitOfWork, told: Settings, receiver: Receiver
) -> None:
    wait_in_line(uow, 5 * BATCH)
    drains = [drain_for(uow, told) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(lambda each: each.sweep()["delivered"], drains))
    assert sum(sent) == 5 * BATCH
    assert max(Counter(taken(receiver)).values()) == 1
    assert len(taken(receiver)) == 5 * BATCH


def test_a_crash_behind_the_hand_over_doubles_under_the_same_uuid(
    uow: UnitOfWork, drain: Drain, receiver: Receiver, clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    wait_in_line(uow, 3)
    with monkeypatch.context() as patched:
        patched.setattr(drain, "_settle", _crash)
        with pytest.raises(KeyboardInterrupt):
            drain.sweep()
    assert drain.sweep() == done(), "the lease holds"
    clock.advance(LEASE)
    assert drain.sweep() == done(delivered=3)
    uuids = taken(receiver)
    assert uuids[:3] == uuids[3:]


def test_a_late_failure_does_not_unsettle_what_another_sweep_has(
    uow: UnitOfWork, drain: Drain, receiver: Receiver, clock: FixedClock
) -> None:
    wait_in_line(uow, 1)
    slow = drain._claim()
    clock.advance(LEASE)
    newer = drain._claim()
    drain._settle(set(), slow)
    assert rows(uow)[0].due_at == clock.now() + LEASE
    drain._settle({newer[0].id}, [])
    assert rows(uow)[0].delivered_at == clock.now()


def _crash(*_arguments: object) -> None:
    raise KeyboardInterrupt
