"""Types that the areas' models share: strict bases, texts, instants, the query of a list.

Strict means: "3" is no number, 1 is no yes, a number is no instant, an unknown key is refused.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)
from pydantic_core import PydanticCustomError

from engine.core.ids import read_cursor

DEFAULT_LIMIT: Final = 50
GREATEST_LIMIT: Final = 200
# What both databases, every time zone and every calendar calculation can hold.
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199
ItemT = TypeVar("ItemT")
_CURSOR_PARTS: Final = (1, 2, 3)
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:", re.ASCII)


class In(BaseModel):
    """Base of every body: strict types, no unknown keys.

    may_be_absent: whether a request without any body means one without members.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    may_be_absent: ClassVar[bool] = False


class Out(BaseModel):
    """Base of every answer; filled from a row that a query returned."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class Page(Out, Generic[ItemT]):
    """One page of a list. next: the cursor of the next page, null on the last."""

    items: list[ItemT]
    next: str | None


def _only_text(value: object) -> object:
    # A number, or a text of digits, would be read as seconds since 1970.
    if not isinstance(value, str) or not _INSTANT.match(value):
        raise PydanticCustomError("instant_type", "must be an instant in ISO 8601 with a zone")
    return value


def _in_utc(value: datetime) -> datetime:
    if not FIRST_YEAR < value.year < LAST_YEAR:
        raise PydanticCustomError("instant_range", "must lie between 1901 and 2198")
    return value.astimezone(UTC)


def _cursor(value: str | None) -> str | None:
    # A wrong one would count as none, and whoever pages by it would begin anew for ever.
    if value is not None and all(read_cursor(value, size) is None for size in _CURSOR_PARTS):
        raise PydanticCustomError("invalid_cursor", "does not come from this list")
    return value


def _primitive(value: Any) -> Any:
    # One fault in place of one for every member of the union.
    if isinstance(value, list | dict):
        raise PydanticCustomError(
            "not_a_primitive", "must be a text, a number, true, false or null"
        )
    return value


def _number(value: Any) -> Any:
    # Only a query needs this: everything in an address is text.
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def shown(row: Any, model: type[BaseModel], *apart: str) -> dict[str, Any]:
    """Return the fields of `model` that a row answers under the same names, its public id as `id`.

    apart: names of the model that the caller fills in itself.
    """
    names = model.model_fields.keys() - {"id", *apart}
    return {"id": row.public_id, **{name: getattr(row, name) for name in names}}


def example(**values: JsonValue) -> ConfigDict:
    """Return the configuration of a body model whose description shows `values`."""
    return ConfigDict(json_schema_extra={"examples": [dict(values)]})


def one_of(*words: str) -> Any:
    """Return the type of a text that is one of `words`; the documentation lists them."""
    return Literal[words]


Instant = Annotated[
    AwareDatetime,
    Field(strict=False, description="ISO 8601 with a zone, for example 2026-03-02T09:00:00Z"),
    BeforeValidator(_only_text, json_schema_input_type=datetime),
    AfterValidator(_in_utc),
]
Email = Annotated[str, StringConstraints(max_length=320)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ShortText = Annotated[str, StringConstraints(max_length=200)]
LongText = Annotated[str, StringConstraints(max_length=5000)]
PublicId = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Scalar = Annotated[str | bool | int | float | None, BeforeValidator(_primitive)]


class Query(BaseModel):
    """Base of every query string."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(Query):
    """What every list may be asked with."""

    cursor: Annotated[
        str | None,
        Field(description="what the page before answered as next", max_length=400),
        AfterValidator(_cursor),
    ] = None
    limit: Annotated[
        int,
        Field(ge=1, le=GREATEST_LIMIT, description="items a page"),
        BeforeValidator(_number, json_schema_input_type=int),
    ] = DEFAULT_LIMIT


class ById(BaseModel):
    """The path of one thing."""

    id: str
