"""Effects leave after the commit, never before, never after a rollback."""

from dataclasses import dataclass
from typing import ClassVar

from engine.core import effects
from engine.core.unit_of_work import UnitOfWork
from tests.fakes.dispatch import RecordingDispatch


@dataclass(frozen=True)
class Look(effects.Effect):
    """An effect of this test."""

    sweep: ClassVar[str] = "steps"
    number: int


def test_an_effect_leaves_once_the_commit_stands(
    uow: UnitOfWork, dispatch: RecordingDispatch
) -> None:
    with uow.begin() as session:
        effects.emit(session, Look(1))
        effects.emit(session, Look(2))
        assert dispatch.effects == []
    assert dispatch.take() == [Look(1), Look(2)]


def test_a_rollback_drops_it(uow: UnitOfWork, dispatch: RecordingDispatch) -> None:
    with uow.begin() as session:
        effects.emit(session, Look(1))
        session.rollback()
    with uow.begin():
        pass
    assert dispatch.effects == []


def test_a_queue_that_is_away_does_not_undo_the_commit(
    uow: UnitOfWork, dispatch: RecordingDispatch
) -> None:
    dispatch.broken = True
    with uow.begin() as session:
        effects.emit(session, Look(1))
    assert dispatch.effects == []


def test_a_savepoint_that_ends_lets_nothing_leave_yet(
    uow: UnitOfWork, dispatch: RecordingDispatch
) -> None:
    with uow.begin() as session:
        effects.emit(session, Look(1))
        with session.begin_nested():
            effects.emit(session, Look(2))
        assert dispatch.effects == []
    assert dispatch.take() == [Look(1), Look(2)]


def test_a_savepoint_that_is_rolled_back_drops_no_hint_of_before(
    uow: UnitOfWork, dispatch: RecordingDispatch
) -> None:
    with uow.begin() as session:
        effects.emit(session, Look(1))
        session.begin_nested().rollback()
    assert dispatch.take() == [Look(1)]
