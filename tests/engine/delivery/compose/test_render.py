"""The evaluator: one template, one person, one mail."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from engine.delivery.compose.render import (
    Compiled,
    Flaw,
    MailData,
    Rendered,
    Source,
    TemplateCache,
    bounded,
    compile_source,
    derived_text,
    missing_variables,
    render,
)

NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
KIM: Final = {"first_name": "Kim", "last_name": None, "email": "kim@people.example"}


def compiled(subject: str = "s", html: str = "<p>h</p>", text: str | None = None) -> Compiled:
    made = compile_source(Source(subject, html, text))
    assert isinstance(made, Compiled), made
    return made


def mail(made: Compiled, subject: str | None = None, **data: Any) -> Rendered:
    got = render(made, MailData(**data), NOW, subject)
    assert isinstance(got, Rendered), got
    return got


def test_every_group_of_variables_is_there() -> None:
    html = (
        "{{ contact.first_name }}|{{ properties.plan }}|{{ event.name }}|{{ order.total }}"
        "|{{ workspace.name }}|{{ unsubscribe_url }}{{ preferences_url }}{{ view_url }}|"
    )
    data: dict[str, Any] = {
        "contact": KIM,
        "properties": {"plan": "pro"},
        "context": {"event": {"name": "signed_up"}, "order": {"total": 12.5}},
        "workspace": {"name": "Acme"},
    }
    assert mail(compiled(html=html), **data).html == "Kim|pro|signed_up|12.5|Acme||"


def test_null_and_absent_look_the_same() -> None:
    text = "{{ contact.last_name | date: '%Y' }}{{ contact.nothing | date: '%Y' }}"
    assert mail(compiled(text=text), contact=KIM).text == ""


@pytest.mark.parametrize(
    "name", ["a\r\nBcc: all@people.example", "a\nb", "a\x00b", "a\u2028b", "a\x0bb"]
)
def test_a_subject_is_one_line(name: str) -> None:
    subject = mail(compiled(subject="Hi {{ contact.name }}"), contact={"name": name}).subject
    assert subject.isprintable()
    assert subject.startswith("Hi a")


def test_a_subject_of_the_step_takes_the_place_of_the_template() -> None:
    made = compiled(subject="template")
    assert mail(made, "Step {{ contact.first_name }}", contact=KIM).subject == "Step Kim"
    assert isinstance(render(made, MailData(), NOW, "{{ broken"), Flaw)


def test_html_is_escaped_and_text_is_not() -> None:
    made = compiled("{{ contact.n }}", "<p>{{ contact.n }}</p>", "{{ contact.n }}")
    got = mail(made, contact={"n": "<b>&"})
    assert (got.subject, got.html, got.text) == ("<b>&", "<p>&lt;b&gt;&amp;</p>", "<b>&")


def test_a_missing_text_part_is_derived_with_its_links() -> None:
    html = "<html><head><title>t</title><style>p{}</style></head><body><h1>Hello</h1>"
    html += "<ul><li>one<li>two</ul><a href='https://x.example/a'>there</a></body></html>"
    text = mail(compiled(html=html)).text
    assert "Hello" in text
    assert "* one" in text
    assert "https://x.example/a" in text
    assert "p{}" not in text


@pytest.mark.parametrize(
    "html",
    [
        "",
        "  ",
        "<!-- only -->",
        "<!-- a <b> c -->",
        "<!doctype html>",
        "<!--<!--<!--",
        "<?xml?>",
        "<?xml version='1.0' encoding='utf-8'?><p>x</p>",
        "\x0c\x01",
        "<" * 1_000,
        "<p>" * 20_000,
        "<div>" * 20_000,
        "<!--" * 50_000,
        "text alone",
        "</p>",
        "<img>",
        "<svg><g/></svg>",
    ],
)
def test_any_html_gives_some_text(html: str) -> None:
    assert isinstance(derived_text(html), str)


def test_half_characters_and_nul_never_reach_a_row() -> None:
    got = mail(
        compiled(text="{{ contact.n }}", html="{{ contact.n }}"), contact={"n": "a\x00\ud800"}
    )
    assert "\x00" not in got.text + got.html
    (got.subject + got.html + got.text).encode()


def test_missing_variables_are_named_for_the_page() -> None:
    made = compiled("{{ contact.first_name }} {{ contact.last_name }}", "{{ properties.plan }}")
    assert missing_variables(made, MailData(contact=KIM)) == (
        "contact.last_name",
        "properties.plan",
    )


def test_foreign_data_is_cut_to_what_the_guards_bound() -> None:
    deep: Any = "end"
    for _ in range(50):
        deep = {"in": deep}
    cut = bounded({"list": [1] * 5_000, "text": "x" * 200_000, "deep": deep, "none": None})
    assert len(cut["list"]) == 1_000
    assert len(cut["text"]) == 50_000
    assert "none" not in cut
    assert str(cut["deep"]).count("in") < 15


def test_a_cache_forgets_the_oldest_and_keeps_versions_apart() -> None:
    cache = TemplateCache()
    first = cache.put((1, 1), Source("one", "", None))
    cache.put((1, 2), Source("two", "", None))
    assert cache.get((1, 1)) is first
    for number in range(2, 300):
        cache.put((number, 1), Source("s", "", None))
    assert cache.get((1, 2)) is None
    assert cache.get((299, 1)) is not None
