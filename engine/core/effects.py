"""Effects: small frozen values of ids and times that leave for the queue after the commit.

The row is the truth, an effect is only a hint (decision G2): every effect class names the sweep
that finds the same work in the rows, so a lost hand-over costs time, never work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import structlog
from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from engine.core import faults

log: Final = structlog.get_logger(__name__)
_PENDING: Final = "stellwerk_effects"
# Ids per hint: as many as one walk takes in a beat or two.
CHUNK: Final = 500


@dataclass(frozen=True)
class Effect:
    """Base of all effects. `sweep` is the name `stellwerk sweep` knows the job by."""

    sweep: ClassVar[str]


Dispatch = Callable[[Sequence[Effect]], None]


def _nowhere(_effects: Sequence[Effect]) -> None:
    """Hand over to nobody: without a queue the sweeps alone do the work."""


_dispatch: Dispatch = _nowhere


def install(dispatch: Dispatch) -> None:
    """Make `dispatch` the hand-over of this process (the edges plug the queue in here)."""
    global _dispatch
    _dispatch = dispatch


def emit(session: Session, effect: Effect) -> None:
    """Hand `effect` over once `session` has committed; a rollback drops it."""
    session.info.setdefault(_PENDING, []).append(effect)


def attach(sessions: "sessionmaker[Session] | type[Session]") -> None:
    """Listen on a session factory; the web's own session class calls this too."""
    event.listen(sessions, "after_commit", _after_commit)
    event.listen(sessions, "after_rollback", _drop)


def hand_over(effects: Sequence[Effect]) -> None:
    """Give effects to the queue now; a failure is logged: the sweep finds the same rows."""
    faults.point("hints.before")
    try:
        _dispatch(effects)
    except OSError:
        log.warning("hand_over_failed", effects=len(effects), exc_info=True)
    faults.point("hints.given")


def _after_commit(session: Session) -> None:
    # A savepoint that ends is no commit yet: nothing may leave before the rows are there for all.
    if session.in_nested_transaction():
        return
    effects = session.info.pop(_PENDING, [])
    if effects:
        hand_over(effects)


def _drop(session: Session) -> None:
    # What was written before a savepoint still stands, and so does its hint; one too many is none.
    if not session.in_nested_transaction():
        session.info.pop(_PENDING, None)
