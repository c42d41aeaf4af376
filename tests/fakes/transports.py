"""A transport that answers what a test told it to, and keeps what was handed to it."""

from collections.abc import Callable

from engine.core.outcome import Refused
from engine.delivery.kinds.base import Accepted, Delivery, Letter, NotHandedOver


class Killed(BaseException):
    """What a test raises where a worker's process would be gone: nobody catches it."""


Answer = Delivery | BaseException


class ScriptedTransport:
    """Takes every letter unless told otherwise.

    before: answers given before anything is handed over; behind: answers given after the body.
    An exception as an answer is raised. replies: what is said to taken letters. meanwhile: called
    between hand-over and answer.
    """

    def __init__(self) -> None:
        self.letters: list[Letter] = []
        self.before: list[Answer | None] = []
        self.behind: list[Answer | None] = []
        self.replies: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    def transmit(self, letter: Letter, hand_over: Callable[[], bool]) -> Delivery:
        """Answer as told."""
        answer = _next(self.before)
        if answer is not None:
            return answer
        if not hand_over():
            return NotHandedOver()
        self.letters.append(letter)
        self.meanwhile()
        reply = self.replies.pop(0) if self.replies else "250 taken"
        return _next(self.behind) or Accepted(reply)

    def handshake(self) -> str | Refused:
        """Answer that it is a fake."""
        return "a fake"

    def close(self) -> None:
        """Nothing is held open."""


def _next(script: list[Answer | None]) -> Delivery | None:
    answer = script.pop(0) if script else None
    if isinstance(answer, BaseException):
        raise answer
    return answer
