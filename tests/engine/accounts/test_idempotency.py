"""One effect for many equal requests, the first answer for the others."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.accounts import idempotency
from engine.accounts.idempotency import Fresh, Replay
from engine.accounts.models import IdempotencyRecord, Workspace
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.accounts import AT

HASH = "a" * 64
OTHER = "b" * 64
MANY = 20


def answer(session: Session, workspace_id: int, key: str = "k", text: str = "{}") -> None:
    idempotency.finish(session, workspace_id, key, 201, "application/json", text)


def test_the_first_is_fresh_and_a_repetition_gets_its_answer(session: Session) -> None:
    home = accounts.workspace(session).id
    assert idempotency.begin(session, home, "k", HASH, AT) == Fresh()
    answer(session, home, text='{"id": "1"}')
    again = idempotency.begin(session, home, "k", HASH, AT + timedelta(hours=23))
    assert again == Replay(201, "application/json", '{"id": "1"}')


def test_another_request_with_the_same_key_is_a_mismatch(session: Session) -> None:
    home = accounts.workspace(session).id
    idempotency.begin(session, home, "k", HASH, AT)
    answer(session, home)
    refused = idempotency.begin(session, home, "k", OTHER, AT)
    assert refused == Refused("idempotency_mismatch", "conflict")


def test_a_key_belongs_to_its_workspace(session: Session) -> None:
    homes = [accounts.workspace(session).id for _ in range(2)]
    assert [idempotency.begin(session, home, "k", HASH, AT) for home in homes] == [Fresh()] * 2


@pytest.mark.parametrize("request_hash", [HASH, OTHER])
def test_a_key_is_free_again_after_a_day(session: Session, request_hash: str) -> None:
    home = accounts.workspace(session).id
    idempotency.begin(session, home, "k", HASH, AT)
    answer(session, home, text="old")
    later = AT + idempotency.KEPT + timedelta(seconds=1)
    assert idempotency.begin(session, home, "k", request_hash, later) == Fresh()
    answer(session, home, text="new")
    assert idempotency.begin(session, home, "k", request_hash, later) == Replay(
        201, "application/json", "new"
    )


@pytest.mark.parametrize(("key", "fits"), [("", False), ("x" * 255, True), ("x" * 256, False)])
def test_a_key_has_between_1_and_255_characters(session: Session, key: str, fits: bool) -> None:
    home = accounts.workspace(session).id
    assert isinstance(idempotency.begin(session, home, key, HASH, AT), Fresh) is fits


def test_a_claim_committed_without_its_answer_is_a_bug(session: Session) -> None:
    home = accounts.workspace(session).id
    idempotency.begin(session, home, "k", HASH, AT)
    with pytest.raises(RuntimeError):
        idempotency.begin(session, home, "k", HASH, AT)


def test_a_rolled_back_request_leaves_the_key_free(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        home = accounts.workspace(session).id
    with pytest.raises(ZeroDivisionError):
        post(uow, home, fails=lambda: True)
    with uow.begin(home) as session:
        assert idempotency.begin(session, home, "k", HASH, AT) == Fresh()


def test_twenty_equal_requests_at_once_have_one_effect(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        home = accounts.workspace(session).id

    answers = at_once(lambda: post(uow, home))

    assert len(answers) == MANY
    assert len(set(answers)) == 1
    with uow.read() as session:
        effects = session.scalar(
            select(func.count()).select_from(Workspace).where(Workspace.name == "effect")
        )
        records = session.scalar(select(func.count()).select_from(IdempotencyRecord))
    assert (effects, records) == (1, 1)


def test_when_the_first_of_twenty_fails_another_one_does_the_work(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        home = accounts.workspace(session).id
    failures = iter([True] * 3)

    def once() -> str:
        try:
            return post(uow, home, fails=lambda: next(failures, False))
        except ZeroDivisionError:
            return "failed"

    answers = at_once(once)
    assert answers.count("failed") == 3
    assert len(set(answers) - {"failed"}) == 1


def post(uow: UnitOfWork, home: int, fails: Callable[[], bool] = lambda: False) -> str:
    """Answer one request as the API does: claim, effect and answer in one transaction."""
    with uow.begin() as session:
        begun = idempotency.begin(session, home, "k", HASH, AT)
        if isinstance(begun, Replay):
            return begun.answer
        assert begun == Fresh()
        if fails():
            raise ZeroDivisionError
        text = accounts.workspace(session, "effect").public_id
        answer(session, home, text=text)
        return text


def at_once(act: Callable[[], str]) -> list[str]:
    """Run `act` in twenty threads that start together."""
    start = Barrier(MANY)

    def run(_number: int) -> str:
        start.wait()
        return act()

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(run, range(MANY)))


def test_old_records_are_forgotten_and_young_ones_kept(session: Session) -> None:
    home = accounts.workspace(session).id
    idempotency.begin(session, home, "old", HASH, AT)
    idempotency.begin(session, home, "young", HASH, AT + timedelta(hours=12))
    assert idempotency.forget(session, AT + idempotency.KEPT + timedelta(seconds=1)) == 1
    assert session.scalars(select(IdempotencyRecord.key)).all() == ["young"]
