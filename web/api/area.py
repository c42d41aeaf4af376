"""Declares the operations of one area: route, scope, models, answers, all in one line.

Owns how an operation is registered and described; leaves what happens on a call to web.api.door.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.tag import Tag
from pydantic import BaseModel, Field

from web.api import door, messages
from web.api.problems import MIME

ROOT: Final = "/api/v1"
_PROBLEM: Final = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}
_ALWAYS: Final = (400, 401, 403, 404, 422, 429)
_BY_METHOD: Final[Mapping[str, tuple[int, ...]]] = {
    "get": _ALWAYS,
    "delete": (*_ALWAYS, 409),
    "post": (*_ALWAYS, 409, 413),
    "patch": (*_ALWAYS, 409, 413),
    "put": (*_ALWAYS, 409, 413),
}
Handler = Callable[..., door.Result]
Answers = Mapping[int, type[BaseModel] | None]


class IdempotencyHeader(BaseModel):
    """What every POST may bear."""

    key: str | None = Field(
        None,
        alias="Idempotency-Key",
        description="the same key and body again: the first answer again",
        pattern="^[ -~]{1,255}$",
    )


class IfMatchHeader(BaseModel):
    """What a guarded PUT or POST must bear."""

    etag: str = Field(alias="If-Match", description="the ETag that GET answered")


class GuardedPostHeader(IfMatchHeader, IdempotencyHeader):
    """What a guarded POST must bear, and may."""


# One blueprint for all areas: the pages' guards know it by its name.
API: Final = APIBlueprint("api", __name__, url_prefix=ROOT, abp_security=[{"key": []}])


class Area:
    """The operations of one area of the API. rooms: the words for what they refuse."""

    def __init__(self, name: str, description: str, *rooms: messages.Table) -> None:
        self._rooms = rooms
        self.scopes: set[str] = set()
        self.tag = Tag(name=name, description=description)

    def get(self, rule: str, scope: str, answer: type[BaseModel]) -> Callable[[Handler], Handler]:
        """Register a reading operation that answers 200."""
        return self._register("get", rule, scope, {200: answer}, header=None)

    def post(
        self,
        rule: str,
        scope: str,
        answers: Answers,
        *,
        guarded: bool = False,
        refuses: tuple[int, ...] = (),
    ) -> Callable[[Handler], Handler]:
        """Register a POST; it takes an Idempotency-Key.

        guarded: it asks for If-Match; refuses: codes of refusals beside those that every POST has.
        """
        header = GuardedPostHeader if guarded else IdempotencyHeader
        return self._register("post", rule, scope, answers, header=header, refuses=refuses)

    def put(
        self, rule: str, scope: str, answers: Answers, *, guarded: bool = False
    ) -> Callable[[Handler], Handler]:
        """Register a PUT. guarded: it asks for If-Match."""
        header = IfMatchHeader if guarded else None
        return self._register("put", rule, scope, answers, header=header)

    def patch(self, rule: str, scope: str, answer: type[BaseModel]) -> Callable[[Handler], Handler]:
        """Register a PATCH that answers 200; only the keys that are sent change."""
        return self._register("patch", rule, scope, {200: answer}, header=None)

    def delete(self, rule: str, scope: str) -> Callable[[Handler], Handler]:
        """Register a DELETE that answers 204."""
        return self._register("delete", rule, scope, {204: None}, header=None)

    def _register(
        self,
        method: str,
        rule: str,
        scope: str,
        answers: Answers,
        *,
        header: type[BaseModel] | None,
        refuses: tuple[int, ...] = (),
    ) -> Callable[[Handler], Handler]:
        self.scopes.add(scope)

        def register(handler: Handler) -> Handler:
            view = door.open_to(handler, scope, self._rooms)
            if header is not None:
                view.__annotations__ = {**handler.__annotations__, "header": header}
            responses: dict[str, Any] = {
                str(code): _described(code) for code in (*_codes(method, header), *refuses)
            }
            responses |= {str(code): model for code, model in answers.items()}
            route = getattr(API, method)
            route(
                rule,
                tags=[self.tag],
                responses=responses,
                operation_id=handler.__name__,
                openapi_extensions={"x-scope": scope},
            )(view)
            return handler

        return register


def _codes(method: str, header: type[BaseModel] | None) -> tuple[int, ...]:
    codes = _BY_METHOD[method]
    guarded = header is not None and issubclass(header, IfMatchHeader)
    return (*codes, 412, 428) if guarded else codes


def _described(code: int) -> dict[str, Any]:
    return {"description": HTTPStatus(code).phrase, "content": {MIME: _PROBLEM}}
