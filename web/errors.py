"""Status codes and error pages: what a refusal and what an exception look like to a reader.

Programs get a problem document (web.api.problems), people a page that says what to do next.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, NoReturn

import structlog
from flask import Flask, Response, g, make_response, render_template, request
from werkzeug.exceptions import (
    Forbidden,
    HTTPException,
    InternalServerError,
    NotFound,
    RequestEntityTooLarge,
    TooManyRequests,
)

from engine.core.outcome import Refused
from web.api import problems
from web.request import request_id, session

log: Final = structlog.get_logger(__name__)

FORM_REFUSED: Final = HTTPStatus.UNPROCESSABLE_ENTITY
"""The status of a page whose form was wrong; htmx is told to show it like a success."""

STATUS: Final[Mapping[str, HTTPStatus]] = {
    "missing": HTTPStatus.NOT_FOUND,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "forbidden": HTTPStatus.FORBIDDEN,
    "conflict": HTTPStatus.CONFLICT,
    "too_many": HTTPStatus.TOO_MANY_REQUESTS,
}
_PAGES: Final = frozenset({400, 403, 404, 405, 413, 422, 429, 500})
_CHUNK: Final = 65_536
# So much of a body that is too large is read and dropped; see _drain.
_DRAIN: Final = 16 * 1_048_576


def register(app: Flask) -> None:
    """Answer every error with a page, or with a problem document below /api/."""
    app.register_error_handler(HTTPException, _answer)


def status_of(refused: Refused) -> HTTPStatus:
    """Return the status code of an expected refusal."""
    return STATUS[refused.kind]


def abort_if_missing(refused: Refused) -> None:
    """Show the 404 page for an unknown or foreign id, the 403 page for what a role may not do."""
    if refused.kind == "missing":
        raise NotFound
    if refused.kind == "forbidden":
        raise Forbidden


def too_many(retry_after: int) -> NoReturn:
    """Show the page that asks to wait; retry_after: seconds."""
    raise TooManyRequests(retry_after=retry_after)


def _answer(error: HTTPException) -> Response:
    if isinstance(error, RequestEntityTooLarge):
        _drain()
    if isinstance(error, InternalServerError):
        # The page of a broken request reads no database: that may be what broke.
        session().rollback()
        g.bare = True
    if problems.is_api(request.path):
        return problems.http_error(error)
    return _page(error)


def _page(error: HTTPException) -> Response:
    code = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    known = code if code in _PAGES else 400 if code < 500 else 500
    answer = make_response(render_template(f"errors/{known}.html", reference=request_id()), code)
    # Allow of a 405, Retry-After of a 429.
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            answer.headers[name] = value
    return answer


def _drain() -> None:
    """Read and drop what the sender still sends, within reason.

    Whoever closes a connection with unread data in it resets it, and the sender never sees why.
    """
    stream = request.environ["wsgi.input"]
    left = min(request.content_length or 0, _DRAIN)
    while left > 0 and (chunk := stream.read(min(_CHUNK, left))):
        left -= len(chunk)
