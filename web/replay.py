"""Answers a request anew, once, where another transaction stood in its way and its own was undone.

Everything begins afresh from what the client sent: body, cookie, context, transaction. Nothing of
the first try has left, because effects leave behind a commit. A request that failed by itself is
not asked for again.
"""

from collections.abc import Iterable
from io import BytesIO
from typing import Final
from wsgiref.types import InputStream, StartResponse, WSGIEnvironment

import structlog
from flask import Flask, Response, request

from engine.core.db import gave_way

log: Final = structlog.get_logger(__name__)

# More than any body that is read to its end; a longer one is not kept, and not repeated.
_LONGEST: Final = 2 * 1_048_576
_KEPT: Final = "stellwerk.body"


class Again(Exception):
    """This request is to be answered anew."""


class KeptBody:
    """The body of a request as a server gives it, kept while it is read."""

    def __init__(self, stream: InputStream) -> None:
        self._stream = stream
        self._read = bytearray()
        self.whole = True

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        return self._keep(self._stream.read(size))

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line."""
        return self._keep(self._stream.readline(size))

    def again(self) -> "Rewound":
        """Return the whole body: what was read, and behind it what was not."""
        return Rewound(BytesIO(bytes(self._read)), self._stream)

    def _keep(self, found: bytes) -> bytes:
        self.whole = self.whole and len(self._read) + len(found) <= _LONGEST
        if self.whole:
            self._read += found
        return found


class Rewound:
    """A body whose beginning has been read before. A short read is no end of it."""

    def __init__(self, kept: BytesIO, stream: InputStream) -> None:
        self._kept = kept
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        found = self._kept.read(size)
        if size < 0:
            return found + self._stream.read(size)
        return found or self._stream.read(size)

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line."""
        return self._kept.readline(size) or self._stream.readline(size)


class Repeating(Flask):
    """An app whose requests are answered anew, once, when they had to give way."""

    def wsgi_app(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request; what had to give way has ended and let go of its locks by then."""
        body = KeptBody(environ["wsgi.input"])
        first = {**environ, "wsgi.input": body, _KEPT: body}
        try:
            return super().wsgi_app(first, start_response)
        except Again:
            return super().wsgi_app({**environ, "wsgi.input": body.again()}, start_response)

    def handle_exception(self, error: Exception) -> Response:
        """Ask for another try, or answer as to every other exception."""
        body = request.environ.get(_KEPT)
        if body is not None and body.whole and gave_way(error):
            log.warning("request_repeated", error=type(getattr(error, "orig", error)).__name__)
            raise Again from error
        return super().handle_exception(error)
