"""The one way into every operation of the API: key, rate, scope, input, transaction, answer.

Owns the order of refusals: 401, 429, 403, 413, 400, 422, then what the operation itself refuses.
web.request commits a write whose answer is a success; a signed-in cookie never counts.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any, Final, get_type_hints

from flask import Response, request
from flask_babel import force_locale
from pydantic import BaseModel, ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.accounts import idempotency
from engine.accounts.permissions import covers
from engine.accounts.service import KeyHolder, authenticate_key, due_for_note, note_key_use
from engine.core.audit import Actor
from engine.core.outcome import Refused
from web.api import bodies, messages, problems
from web.api.state import purse
from web.request import begin_writing, enter_workspace, now, runtime, session

JSON: Final = "application/json"
SOURCE: Final = "api"
_TRIES: Final = 3
_PARTS: Final = ("path", "query", "body")
_READS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Call:
    """One admitted call. etag: what If-Match says; scopes: of the key, beyond the one asked for."""

    session: Session
    workspace_id: int
    actor: Actor
    at: datetime
    etag: str | None = None
    scopes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Answer:
    """A success. body None: no content."""

    body: BaseModel | None
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


Result = Answer | Refused
Handler = Callable[..., Result]


@dataclass(frozen=True)
class _Ask:
    """What a request says, judged by its models."""

    values: Mapping[str, BaseModel | Any]
    etag: str | None
    idempotency_key: str | None
    fingerprint: str


def open_to(
    handler: Handler, scope: str, rooms: Sequence[messages.Table] = ()
) -> Callable[..., Response]:
    """Return the view of `handler(call, path?, query?, body?)` for keys that hold `scope`.

    rooms: the words for what the operation refuses.
    """
    hints = get_type_hints(handler)
    models: dict[str, Any] = {part: hints[part] for part in _PARTS if part in hints}

    @wraps(handler)
    def view(**path: str) -> Response:
        with force_locale(problems.LANGUAGE):
            outcome = _outcome(handler, scope, models, path)
            if isinstance(outcome, Refused):
                return problems.refusal(outcome, rooms)
            return outcome

    # The door has read the input; the library only describes it.
    view.__delay_validate_request__ = True  # type: ignore[attr-defined]
    return view


def _outcome(
    handler: Handler, scope: str, models: Mapping[str, Any], path: Mapping[str, str]
) -> Response | Refused:
    holder = _admit(scope, now())
    if isinstance(holder, Refused):
        return holder
    ask = _read(models, path)
    if isinstance(ask, Refused):
        return ask
    act = _reading if request.method in _READS else _writing
    return act(handler, holder, ask, now())


def _admit(scope: str, at: datetime) -> KeyHolder | Refused:
    kind, _, key = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not key.strip():
        return Refused("no_key", "unauthenticated")
    # In a transaction of its own: one that writes must begin as such, before any query.
    with runtime().uow.read() as apart:
        holder = authenticate_key(apart, key.strip(), at)
    if holder is None:
        return Refused("unknown_api_key", "unauthenticated")
    if due_for_note(holder, at):
        with runtime().uow.begin() as apart:
            note_key_use(apart, holder, at)
    wait = purse().spend(holder.key_id, at)
    if wait is not None:
        return Refused("too_many_requests", "too_many", params={"retry_after": wait})
    if not covers(holder.scopes, scope):
        return Refused("wrong_scope", "forbidden", params={"scope": scope})
    return holder


def _read(models: Mapping[str, Any], path: Mapping[str, str]) -> _Ask | Refused:
    values: dict[str, Any] = {}
    raw = b""
    if "body" in models:
        read = bodies.read_bytes(request)
        if isinstance(read, Refused):
            return read
        raw = read
        parsed = bodies.read_json(
            raw or b"{}" if getattr(models["body"], "may_be_absent", False) else raw
        )
        if isinstance(parsed, Refused):
            return parsed
        values["body"] = parsed
    if "query" in models:
        values["query"] = {name: found[-1] for name, found in request.args.lists()}
    if "path" in models:
        values["path"] = dict(path)
    for part, model in models.items():
        judged = _judge(model, values[part], "?" if part == "query" else "")
        if isinstance(judged, Refused):
            return judged
        values[part] = judged
    return _with_headers(values, raw)


def _judge(model: type[BaseModel], value: Any, root: str) -> BaseModel | Refused:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        return problems.from_validation(error, value, root)


def _with_headers(values: Mapping[str, Any], raw: bytes) -> _Ask | Refused:
    etag = request.headers.get("If-Match") or None
    key = request.headers.get("Idempotency-Key") if request.method == "POST" else None
    if key is not None and not (1 <= len(key) <= 255 and key.isascii() and key.isprintable()):
        return Refused("idempotency_key_invalid", "malformed")
    spelt = f"{request.method} {request.full_path}\n".encode("utf-8", "surrogatepass") + raw
    return _Ask(values, etag, key, hashlib.sha256(spelt).hexdigest())


def _reading(handler: Handler, holder: KeyHolder, ask: _Ask, at: datetime) -> Response | Refused:
    enter_workspace(holder.workspace_id)
    result = handler(_call(session(), holder, ask, at), **ask.values)
    return result if isinstance(result, Refused) else _response(result)


def _writing(handler: Handler, holder: KeyHolder, ask: _Ask, at: datetime) -> Response | Refused:
    """Run a writing operation; a row that somebody else made at the same moment is tried again."""
    for _ in range(_TRIES):
        opened = begin_writing()
        enter_workspace(holder.workspace_id)
        try:
            outcome = _once(opened, handler, holder, ask, at)
            if isinstance(outcome, Response):
                opened.flush()
        except IntegrityError:
            opened.rollback()
            continue
        return outcome
    return Refused("lost_race")


def _once(
    opened: Session, handler: Handler, holder: KeyHolder, ask: _Ask, at: datetime
) -> Response | Refused:
    key = ask.idempotency_key
    if key is not None:
        begun = idempotency.begin(opened, holder.workspace_id, key, ask.fingerprint, at)
        if isinstance(begun, Refused):
            return begun
        if isinstance(begun, idempotency.Replay):
            return Response(begun.answer, begun.status_code, content_type=begun.content_type)
    result = handler(_call(opened, holder, ask, at), **ask.values)
    if isinstance(result, Refused):
        return result
    response = _response(result)
    if key is not None:
        text = response.get_data(as_text=True)
        idempotency.finish(
            opened, holder.workspace_id, key, response.status_code, response.content_type, text
        )
    return response


def _call(session: Session, holder: KeyHolder, ask: _Ask, at: datetime) -> Call:
    actor = Actor(f"key:{holder.public_id}", request.remote_addr, request.headers.get("User-Agent"))
    return Call(session, holder.workspace_id, actor, at, ask.etag, holder.scopes)


def _response(answer: Answer) -> Response:
    text = "" if answer.body is None else answer.body.model_dump_json()
    response = Response(text, answer.status, mimetype=JSON)
    if answer.body is None:
        del response.headers["Content-Type"]
    response.headers.extend(dict(answer.headers))
    return response
