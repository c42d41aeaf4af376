"""Property values: what counts as one, how it is spelt, and how it comes back."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from engine.audience import values
from engine.audience.values import TypedValue
from engine.core.outcome import Problem


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-12.5, "-12.5"),
        (0.1, "0.1"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (-1.25e-9, "-1.25e-9"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)
def test_a_number_is_spelt_as_ecmascript_spells_it(number: float, text: str) -> None:
    assert values.number_text(number) == text


@pytest.mark.parametrize(
    ("kind", "raw", "text", "number", "boolean", "native"),
    [
        ("text", "Straße", "Straße", None, None, "Straße"),
        ("text", " 7 ", " 7 ", 7.0, None, " 7 "),
        ("text", "", "", 0.0, None, ""),
        ("text", "0x10", "0x10", 16.0, None, "0x10"),
        ("text", "true", "true", None, True, "true"),
        ("text", True, "true", None, True, "true"),
        ("text", 1.0, "1", 1.0, None, "1"),
        ("text", 90071992547409931, "90071992547409931", 9.007199254740994e16, None, None),
        ("number", 3, "3", 3.0, None, 3),
        ("number", -0.0, "0", 0.0, None, 0),
        ("number", "1e3", "1000", 1000.0, None, 1000),
        ("number", 2.5, "2.5", 2.5, None, 2.5),
        ("boolean", False, "false", 0.0, False, False),
        ("boolean", "true", "true", 1.0, True, True),
    ],
)
def test_a_value_fills_its_typed_columns(
    kind: str, raw: Any, text: str, number: float | None, boolean: bool | None, native: Any
) -> None:
    read = values.read(kind, raw, "/p")
    assert isinstance(read, TypedValue)
    assert (read.text, read.folded, read.number, read.boolean) == (
        text,
        text.lower(),
        number,
        boolean,
    )
    assert read.native() == (text if native is None else native)
    assert type(read.native()) is type(text if native is None else native)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("2026-03-02", "2026-03-02T00:00:00.000Z"),
        ("2026-03-02T09:30:00+01:00", "2026-03-02T08:30:00.000Z"),
        (" 2026-03-02T08:30:00.25Z ", "2026-03-02T08:30:00.250Z"),
    ],
)
def test_an_instant_is_kept_in_utc(raw: str, text: str) -> None:
    read = values.read("instant", raw, "/p")
    assert isinstance(read, TypedValue)
    assert read.text == text
    assert read.instant == datetime.fromisoformat(text)
    assert read.instant.tzinfo == UTC


@pytest.mark.parametrize("kind", ["text", "number", "boolean", "instant"])
@pytest.mark.parametrize("raw", [[], {}, ["a"], {"a": 1}])
def test_nested_values_are_refused(kind: str, raw: object) -> None:
    assert values.read(kind, raw, "/p") == Problem("/p", "not_a_primitive")


@pytest.mark.parametrize(
    ("kind", "raw", "code"),
    [
        ("text", "a\x00b", "invalid_text"),
        ("text", "\ud83d", "invalid_text"),
        ("text", "x" * 10_001, "too_long"),
        ("text", math.inf, "not_a_text"),
        ("text", 10**21, "not_a_text"),
        ("number", "abc", "not_a_number"),
        ("number", "1_000", "not_a_number"),
        ("number", "Infinity", "not_a_number"),
        ("number", math.nan, "not_a_number"),
        ("number", 10**400, "not_a_number"),
        ("number", True, "not_a_number"),
        ("boolean", "True", "not_a_boolean"),
        ("boolean", "yes", "not_a_boolean"),
        ("boolean", 1, "not_a_boolean"),
        ("boolean", 0.0, "not_a_boolean"),
        ("instant", "tomorrow", "not_a_instant"),
        ("instant", "2026-03-02T09:30:00", "not_a_instant"),
        ("instant", "0001-01-01T00:00:00+14:00", "not_a_instant"),
        ("instant", 1772442000, "not_a_instant"),
    ],
)
def test_a_value_of_another_type_is_refused(kind: str, raw: object, code: str) -> None:
    read = values.read(kind, raw, "/p")
    assert isinstance(read, Problem)
    assert (read.pointer, read.code) == ("/p", code)


@pytest.mark.parametrize("kind", ["text", "number", "boolean", "instant"])
def test_null_clears_every_type(kind: str) -> None:
    assert values.read(kind, None, "/p") is None


@pytest.mark.parametrize("kind", ["number", "boolean", "instant"])
def test_an_empty_text_clears_what_is_no_text(kind: str) -> None:
    assert values.read(kind, " ", "/p") is None


def test_ten_thousand_characters_are_a_value() -> None:
    assert isinstance(values.read("text", "ß" * 10_000, "/p"), TypedValue)
