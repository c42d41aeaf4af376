"""Reading a JSON body: what is no UTF-8, no JSON, or nothing a database can keep."""

import json

import pytest

from engine.core.outcome import Refused
from web.api.bodies import DEPTH, read_json

DEEP = b"[" * (DEPTH + 2) + b"]" * (DEPTH + 2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not_json"),
        (b"name=Ada", "not_json"),
        (b'{"a": 1,}', "not_json"),
        (b"{'a': 1}", "not_json"),
        (b'\xef\xbb\xbf{"a": 1}', "not_json"),
        (b'{"a": NaN}', "not_a_json_number"),
        (b'{"a": -Infinity}', "not_a_json_number"),
        (b'{"a": "\xff"}', "not_utf8"),
        (b'{"a": "\xed\xa0\x80"}', "not_utf8"),
        (b'{"a": 1, "a": 2}', "equal_keys"),
        (b'[{"x": {"a": 1, "a": 1}}]', "equal_keys"),
        (b"[" * 100_000, "nested_too_deep"),
    ],
)
def test_what_is_no_json_is_malformed(body: bytes, reason: str) -> None:
    refused = read_json(body)
    assert isinstance(refused, Refused)
    assert (refused.kind, refused.reason) == ("malformed", reason)


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        (b'{"a": "x\\u0000y"}', "/a", "unstorable_text"),
        (b'{"a": ["ok", "\\ud800"]}', "/a/1", "unstorable_text"),
        (b'{"a": {"b/c~d": "\\udfff"}}', "/a/b~1c~0d", "unstorable_text"),
        (b'{"a\\u0000": 1}', "/a\x00", "unstorable_text"),
        (b'{"a": 9223372036854775808}', "/a", "number_too_large"),
        (b'{"a": 1e999}', "/a", "number_too_large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "/a", "number_too_large"),
        (DEEP, "/0" * (DEPTH + 1), "nested_too_deep"),
    ],
)
def test_what_no_database_keeps_is_refused_with_its_place(
    body: bytes, pointer: str, code: str
) -> None:
    refused = read_json(body)
    assert isinstance(refused, Refused)
    assert refused.kind == "invalid"
    assert [(each.pointer, each.code) for each in refused.problems] == [(pointer, code)]


@pytest.mark.parametrize(
    "value",
    [{}, [], None, "\U0001f600 é", {"a": [1, 2.5, True, None, -(2**63) + 1]}, {"": {"": ""}}],
)
def test_every_other_value_is_read_as_it_is(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value
