"""Condition on a property of the contact: twelve operators, exact by facts 2.2.

Compares the typed columns that were filled when the value was written; nothing is cast in SQL. The
comparison value is read here by the same functions, so both sides are spelt alike.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from sqlalchemy import ColumnElement, Integer, false, not_, select, true
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from engine.audience.models import BUILT_IN, Contact, ContactPropertyValue
from engine.audience.values import LONGEST, comparable_number, comparable_text
from engine.core.text import fold, storable
from engine.rules.kinds import base

Operator = Literal[
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "gt",
    "lt",
    "gte",
    "lte",
    "is_empty",
    "not_empty",
    "is_true",
    "is_false",
]
UNARY: Final = ("is_empty", "not_empty", "is_true", "is_false")
_NEGATED: Final = {"not_equals": "equals", "not_contains": "contains", "is_empty": "not_empty"}
_ORDERED: Final[Mapping[str, Callable[[Any, float], ColumnElement[bool]]]] = {
    "gt": operator.gt,
    "lt": operator.lt,
    "gte": operator.ge,
    "lte": operator.le,
}


def _storable(value: str) -> str:
    if not storable(value):
        raise ValueError("holds a character that no database stores")
    return value


def _plainly_spelt(value: int) -> int:
    if abs(value) >= 10**21:
        raise ValueError("is spelt with an exponent, so it is read as a float")
    return value


Text = Annotated[str, AfterValidator(_storable), Field(max_length=LONGEST)]
Whole = Annotated[int, AfterValidator(_plainly_spelt)]
Fraction = Annotated[float, Field(allow_inf_nan=False)]


class PropertyConfig(base.Config):
    """field: a built-in field or a property's key. value: absent counts as ''."""

    field: Annotated[Text, Field(min_length=1, max_length=100)]
    operator: Operator
    value: Text | Whole | Fraction | bool | None = None


class _Position(FunctionElement[int]):
    """Where a text first occurs in another, from 1; 0 where it does not. Exact to the character."""

    inherit_cache = True
    type = Integer()


@compiles(_Position, "sqlite")
def _instr(element: _Position, compiler: SQLCompiler, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(_Position, "postgresql")
def _strpos(element: _Position, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **options)})"


class ContactProperty:
    """The kind `contact_property`."""

    Config = PropertyConfig

    def predicate(self, config: PropertyConfig, workspace_id: int) -> ColumnElement[bool]:
        """Return whether the contact's value fulfils the operator; never NULL."""
        positive = _NEGATED.get(config.operator)
        if positive is not None:
            return not_(self._holds(positive, config, workspace_id))
        return self._holds(config.operator, config, workspace_id)

    def _holds(self, asked: str, config: PropertyConfig, workspace_id: int) -> ColumnElement[bool]:
        value = ContactPropertyValue
        needle = fold(comparable_text(config.value))
        if asked == "not_empty" or (asked == "equals" and needle == ""):
            filled = _has(config, workspace_id, value.text != "")
            # A missing value and '' are the same text.
            return filled if asked == "not_empty" else not_(filled)
        if asked == "equals":
            return _has(config, workspace_id, value.folded == needle)
        if asked == "contains":
            if needle == "":
                return true()
            return _has(config, workspace_id, _Position(value.folded, needle) > 0)
        if asked in _ORDERED:
            bound = comparable_number(config.value)
            if bound is None:
                return false()
            return _has(config, workspace_id, _ORDERED[asked](value.number, bound))
        return _has(config, workspace_id, value.boolean.is_(asked == "is_true"))

    def found(self, config: PropertyConfig, workspace_id: int) -> ColumnElement[Any]:
        """Return the stored value as text."""
        value = ContactPropertyValue
        return (
            select(value.text)
            .where(*_of(config, workspace_id))
            .correlate(Contact)
            .scalar_subquery()
        )

    def describe(self, config: PropertyConfig) -> base.Description:
        """Return the key, the operator and the comparison value as text."""
        value = None if config.operator in UNARY else comparable_text(config.value)
        return base.Description(config.field, config.operator, value)

    def references(self, config: PropertyConfig) -> Sequence[base.Reference]:
        """Return the custom property, unless the field is built in."""
        if config.field in BUILT_IN:
            return ()
        return (base.Reference("property", config.field),)


def _of(config: PropertyConfig, workspace_id: int) -> tuple[ColumnElement[bool], ...]:
    value = ContactPropertyValue
    return (
        value.workspace_id == workspace_id,
        value.contact_id == Contact.id,
        value.key == config.field,
    )


def _has(
    config: PropertyConfig, workspace_id: int, what: ColumnElement[bool]
) -> ColumnElement[bool]:
    value = ContactPropertyValue
    return select(value.id).where(*_of(config, workspace_id), what).correlate(Contact).exists()
