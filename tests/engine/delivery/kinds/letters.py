"""A letter to send, and a hand-over that counts."""

from collections.abc import Callable
from typing import Any, Final

from engine.delivery.kinds.base import (
    Letter,
)
from engine.delivery.kinds.smtp import Smtp
from tests.support.sink import SmtpSink

CONTENT: Final = b"Subject: hi\r\n\r\nHello\r\n.dot\r\n"
MakeSmtp = Callable[..., Smtp]


class HandOver:
    """A hand-over that counts, and answers what it is told."""

    def __init__(self, answer: bool = True) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        return self.answer


def letter(**parts: Any) -> Letter:
    return Letter(
        **{
            "public_id": "msg_1",
            "sender": "team@acme.example",
            "recipient": "kim@people.example",
            "content": CONTENT,
            **parts,
        }
    )


def opened(sink: SmtpSink) -> int:
    """Return how many connections came; the sink's own start makes the first."""
    return sink.connections - 1
