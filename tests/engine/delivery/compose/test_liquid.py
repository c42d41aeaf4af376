"""Liquid in mail: lenient, escaped, and bounded whatever a template asks for (decision C13)."""

import time
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from engine.delivery.compose.liquid import Broken, Liquid, parse

NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
# The longest a hostile text may take; the guards stop each within a fraction of it.
PATIENCE_S: Final = 5.0


def rendered(source: str, data: dict[str, Any] | None = None, *, html: bool = False) -> str:
    parsed = parse(source, html=html)
    assert isinstance(parsed, Liquid), parsed
    text = parsed.render(data or {}, NOW)
    assert isinstance(text, str), text
    return text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Hi {{ contact.first_name }}", "Hi Kim"),
        ("Hi {{ contact.nobody }}!", "Hi !"),
        ("Hi {{ nobody.at.all }}!", "Hi !"),
        ("Hi {{ contact.nobody | default: 'you' }}", "Hi you"),
        ("{{ contact.nobody | plus: 1 }}", "1"),
        ("{{ contact.nobody | upcase | date: '%Y' }}", ""),
        ("{% if contact.age > 17 %}adult{% else %}minor{% endif %}", "adult"),
        ("{% for item in order.items %}{{ item }},{% endfor %}", "a,b,"),
        ("{{ 'now' | date: '%Y-%m-%d %H:%M' }}", "2026-03-02 09:30"),
        ("{{ now | date: '%H' }} {{ today }}", "09 2026-03-02"),
        ("{{ '2026-05-01' | date: '%d.%m.%Y' }}", "01.05.2026"),
        ("{{ contact.html | strip_html }}", "bold"),
        ("{{ contact.keys }}{{ contact.items }}{{ contact.__class__ }}|", "|"),
    ],
)
def test_a_text_renders(source: str, expected: str) -> None:
    contact = {"first_name": "Kim", "age": 18, "html": "<b>bold</b>"}
    assert rendered(source, {"contact": contact, "order": {"items": ["a", "b"]}}) == expected


def test_values_are_escaped_in_html_alone() -> None:
    data = {"name": '<img src=x onerror="alert(1)">'}
    assert "<img" not in rendered("{{ name }}", data, html=True)
    assert "<img" not in rendered("{{ name | upcase | append: '!' }}", data, html=True).lower()
    assert rendered("{{ name }}", data) == data["name"]


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("a\nb {% endif %}", 2, 5),
        ("{% if a %}", 1, 0),
        ("a\n\n  {{ a | }}", 3, 2),
        ("{{ a | nonsense }}", 1, 7),
        ("{% if false %}\n{{ a | nonsense }}{% endif %}", 2, 7),
        ("{% nonsense %}", 1, 3),
        ("x {{ a", 1, 2),
        ("x\n{% a", 2, 0),
        ("{% include 'secrets' %}", 1, 3),
        ("{% render 'secrets' %}", 1, 3),
        ("{% raw %} never ends", 1, 0),
    ],
)
def test_a_text_that_does_not_parse_says_where(source: str, line: int, column: int) -> None:
    broken = parse(source)
    assert isinstance(broken, Broken)
    assert broken.message
    if source != "{% if a %}":  # the library knows no place for what is missing at the very end
        assert (broken.line, broken.column) == (line, column)


REPLACE: Final = "| replace: 'x', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' "
GROW: Final = (
    "{%% assign a = %s %%}{%% for i in (1..100) %%}{%% assign a = a | %s %%}{%% endfor %%}"
)
HOSTILE: Final = {
    "endless loop": "{% for i in (1..1000000000) %}x{% endfor %}",
    "nested loops": "{% for i in (1..999) %}{% for j in (1..999) %}x{% endfor %}{% endfor %}",
    "loops in a row": "{% for i in (1..9999) %}{% endfor %}" * 2_000,
    "a table of loops": "{% tablerow i in (1..100000000) %}x{% endtablerow %}",
    "a walk through a range": "{% if (1..100000000000) contains 5.5 %}{% endif %}",
    "a range as a list": "{% assign x = (1..1000000000) | reverse %}",
    "a joined range": "{{ (1..1000000000) | join: ',' }}",
    "a chain of replace": "{{ 'x' " + REPLACE * 7 + "}}",
    "a growing text": GROW % ("'aa'", "append: a"),
    "a growing list": GROW % ("'a,b' | split: ','", "concat: a"),
    "a growing number": GROW % ("9", "times: a"),
    "a long output": "{% for i in (1..9999) %}" + "0123456789" * 100 + "{% endfor %}",
    "a long capture": "{% capture a %}{% for i in (1..9999) %}" + "0123456789" * 100
    + "{% endfor %}{% endcapture %}",
    "work without output": "{% for i in (1..9999) %}" + "{% if false %}x{% endif %}" * 1_000
    + "{% endfor %}",
    "too many tags": "{{ a }}" * 50_000,
    "nested blocks": "{% if a %}" * 1_000 + "{% endif %}" * 1_000,
    "nested paths": "{{ a" + "[a" * 300 + "]" * 300 + " }}",
    "nested conditions": "{% if a " + "and a " * 1_600 + "%}{% endif %}",
    "unclosed outputs": "{{ " * 100_000,
    "unclosed tags": "{% a" + " " * 200_000,
    "unclosed verbatim": "{% raw %}" * 30_000,
    "a huge float": "{{ '1e999999' | plus: 1 }}",
    "a date out of range": "{{ '99999999999999999999999999' | date: '%Y' }}",
    "a broken encoding": "{{ 'a' | base64_decode }}",
    "a division by nothing": "{{ 1 | divided_by: 0 }}",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_soon(name: str) -> None:
    begun = time.monotonic()
    parsed = parse(HOSTILE[name], html=True)
    outcome = parsed if isinstance(parsed, Broken) else parsed.render({"a": "a"}, NOW)
    assert isinstance(outcome, Broken), outcome[:100]
    assert outcome.message
    assert time.monotonic() - begun < PATIENCE_S


def test_heavy_data_cannot_make_a_harmless_text_endless() -> None:
    data = {"words": ["x"] * 1_000, "text": "lorem ipsum " * 4_000}
    begun = time.monotonic()
    parsed = parse("{% for i in (1..9999) %}{{ text | upcase }}{{ words | uniq }}{% endfor %}")
    assert isinstance(parsed, Liquid)
    assert isinstance(parsed.render(data, NOW), Broken)
    assert time.monotonic() - begun < PATIENCE_S


def test_the_variables_of_a_text_are_known() -> None:
    parsed = parse("{{ contact.first_name }}{% for i in event.items %}{{ i.name }}{% endfor %}")
    assert isinstance(parsed, Liquid)
    assert parsed.variables == ("contact.first_name", "event.items")
