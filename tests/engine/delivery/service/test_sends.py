"""Queueing: set-wise, once per dedupe key, hinted after the commit."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from sqlalchemy import func, select

from engine.core.effects import CHUNK
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import service
from engine.delivery.effects import DispatchSends
from engine.delivery.models import EmailSend
from tests.factories import accounts, delivery
from tests.fakes.dispatch import RecordingDispatch


@pytest.fixture
def workspace(uow: UnitOfWork) -> int:
    """Return a committed workspace."""
    with uow.begin() as session:
        return accounts.workspace(session).id


def count(uow: UnitOfWork) -> int:
    with uow.read() as session:
        return session.scalar(select(func.count()).select_from(EmailSend)) or 0


def test_every_key_answers_its_row_in_the_order_given(uow: UnitOfWork, workspace: int) -> None:
    requests = [delivery.request(workspace, dedupe_key=key) for key in ("a", "b", "c", "a")]
    with uow.begin(workspace) as session:
        first = service.enqueue_many(session, requests, accounts.AT)
    with uow.begin(workspace) as session:
        more = [*requests, delivery.request(workspace, dedupe_key="d")]
        again = service.enqueue_many(session, more, accounts.AT)
    assert sorted(first, key=lambda key: first[key]) == ["a", "b", "c"]
    assert {key: again[key] for key in first} == first
    assert set(again) == {"a", "b", "c", "d"}
    assert count(uow) == 4


def test_nothing_asked_nothing_done(uow: UnitOfWork, dispatch: RecordingDispatch) -> None:
    with uow.begin() as session:
        assert service.enqueue_many(session, [], accounts.AT) == {}
    assert dispatch.effects == []


def test_the_same_key_in_two_workspaces_is_two_mails(uow: UnitOfWork, workspace: int) -> None:
    with uow.begin() as session:
        other = accounts.workspace(session, "Other").id
    ids = []
    for owner in (workspace, other):
        with uow.begin() as session:
            wanted = [delivery.request(owner, dedupe_key="same")]
            ids.append(service.enqueue_many(session, wanted, accounts.AT)["same"])
    assert ids[0] != ids[1]
    both = [delivery.request(owner, dedupe_key="x") for owner in (workspace, other)]
    with uow.read() as session, pytest.raises(ValueError, match="two workspaces"):
        service.enqueue_many(session, both, accounts.AT)


def test_hints_leave_after_the_commit_in_chunks(
    uow: UnitOfWork, workspace: int, dispatch: RecordingDispatch
) -> None:
    wanted = [delivery.request(workspace) for _ in range(CHUNK + 5)]
    with uow.begin(workspace) as session:
        ids = service.enqueue_many(session, wanted, accounts.AT)
        assert dispatch.effects == []
    hints = dispatch.of(DispatchSends)
    assert [len(hint.send_ids) for hint in hints] == [CHUNK, 5]
    assert [row_id for hint in hints for row_id in hint.send_ids] == list(ids.values())
    assert {(hint.pool, hint.due_at) for hint in hints} == {("transactional", None)}


@pytest.mark.parametrize(("seconds", "hinted"), [(0, True), (60, True), (61, False)])
def test_what_the_next_sweep_finds_gets_no_hint(
    uow: UnitOfWork, workspace: int, dispatch: RecordingDispatch, seconds: int, hinted: bool
) -> None:
    due = accounts.AT + timedelta(seconds=seconds)
    with uow.begin(workspace) as session:
        wanted = [delivery.request(workspace, due_at=due)]
        service.enqueue_many(session, wanted, accounts.AT)
    assert bool(dispatch.effects) == hinted


def test_two_writers_with_one_key_queue_one_mail(uow: UnitOfWork, workspace: int) -> None:
    start, answers = Barrier(2), []

    def write() -> None:
        start.wait()
        with uow.begin(workspace) as session:
            wanted = [delivery.request(workspace, dedupe_key="once")]
            answers.append(service.enqueue_many(session, wanted, accounts.AT)["once"])

    threads = [Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(answers)) == 1
    assert count(uow) == 1
