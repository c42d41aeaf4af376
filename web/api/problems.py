"""Every refusal of the API as a problem document (RFC 9457), in one place.

Owns the shape of refusals and their status codes; leaves the words to web.api.messages.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from flask import Response
from flask_babel import force_locale
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails
from werkzeug.exceptions import HTTPException

from engine.core.outcome import Problem, Refused, below
from web.api import messages
from web.api.fields import Out

MIME: Final = "application/problem+json"
PREFIX: Final = "/api/"
# One language whatever a cookie says: programs write these sentences into their logs.
LANGUAGE: Final = "en"
STATUS: Final[Mapping[str, HTTPStatus]] = {
    "malformed": HTTPStatus.BAD_REQUEST,
    "unauthenticated": HTTPStatus.UNAUTHORIZED,
    "forbidden": HTTPStatus.FORBIDDEN,
    "missing": HTTPStatus.NOT_FOUND,
    "conflict": HTTPStatus.CONFLICT,
    "precondition_failed": HTTPStatus.PRECONDITION_FAILED,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "invalid": HTTPStatus.UNPROCESSABLE_ENTITY,
    "precondition_required": HTTPStatus.PRECONDITION_REQUIRED,
    "too_many": HTTPStatus.TOO_MANY_REQUESTS,
}


class Fault(Out):
    """One fault of the input: where it is and what is wrong with it."""

    pointer: str
    message: str


class ProblemDocument(Out):
    """A refusal. reason: a stable word for programs; detail: a sentence for people."""

    type: str
    title: str
    status: int
    detail: str
    reason: str | None = None
    errors: list[Fault] = Field(default_factory=list)


@dataclass(frozen=True)
class Told(Refused):
    """A refusal that shows more than words. members: what stands beside them, ready for JSON."""

    members: Mapping[str, Any] = field(default_factory=dict)


def is_api(path: str) -> bool:
    """Whether `path` belongs to the API, so that even a routing error is a problem document."""
    return path.startswith(PREFIX)


def refusal(refused: Refused, rooms: Sequence[messages.Table] = ()) -> Response:
    """Return the answer to an expected refusal. rooms: the words of the rooms it may come from."""
    status = STATUS[refused.kind]
    errors = faults(refused.problems, rooms)
    members = refused.members if isinstance(refused, Told) else {}
    sentence = messages.sentence(refused, rooms)
    answer = _document(status, sentence, refused.reason, errors, members)
    if status is HTTPStatus.UNAUTHORIZED:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if "retry_after" in refused.params:
        answer.headers["Retry-After"] = str(refused.params["retry_after"])
    return answer


def faults(problems: Iterable[Problem], rooms: Sequence[messages.Table]) -> list[Fault]:
    """Return problems as people read them."""
    return [Fault(pointer=p.pointer, message=messages.fault(p, rooms)) for p in problems]


def http_error(error: HTTPException) -> Response:
    """Return the answer to an error of the web floor: 404, 405, 413, 500 and their like."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    reason = status.name.lower()
    with force_locale(LANGUAGE):
        answer = _document(status, messages.sentence(Refused(reason)), reason, [])
    # Allow of a 405, Retry-After of a 503.
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            answer.headers[name] = value
    return answer


def from_validation(error: ValidationError, value: Any, root: str = "") -> Refused:
    """Return the refusal of `value` that a model did not accept; root: what pointers start with."""
    found = error.errors(include_url=False, include_context=True)
    problems = tuple(_fault(detail, value, root) for detail in found)
    return Refused("invalid_input", "invalid", problems)


def _fault(detail: ErrorDetails, value: Any, root: str) -> Problem:
    params = {
        name: param
        for name, param in detail.get("ctx", {}).items()
        if isinstance(param, str | int) and not isinstance(param, bool)
    }
    pointer = _pointer(detail["loc"], value, root, absent=detail["type"] == "missing")
    return Problem(pointer, messages.SCHEMA + detail["type"], {**params, "detail": detail["msg"]})


def _pointer(loc: Sequence[str | int], value: Any, root: str, *, absent: bool) -> str:
    # A location also names the member of a union that was tried; only what is in the value counts.
    pointer = root
    for position, part in enumerate(loc):
        if _holds(value, part):
            value = value[part]
        elif not (absent and position == len(loc) - 1):
            continue
        pointer = below(pointer, part) if root != "?" else f"?{part}"
    return pointer


def _holds(value: Any, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def _document(
    status: HTTPStatus,
    detail: str,
    reason: str | None,
    errors: list[Fault],
    members: Mapping[str, Any] | None = None,
) -> Response:
    document = ProblemDocument(
        type="about:blank",
        title=status.phrase,
        status=status,
        detail=detail,
        reason=reason,
        errors=errors,
    )
    # Escaped to ASCII: a pointer may repeat a key that is no valid UTF-8.
    body = json.dumps({**document.model_dump(), **(members or {})}, ensure_ascii=True)
    return Response(body, status=status, mimetype=MIME)
