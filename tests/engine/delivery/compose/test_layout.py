"""Layout at save: MJML to HTML and styles into attributes, with Liquid untouched."""

import re
from typing import Final

import pytest

from engine.delivery.compose.layout import nested_too_deep, to_html, with_inline_styles
from engine.delivery.compose.liquid import Broken, parse

STYLE: Final = "<style>p.x { color: red } @media (max-width: 600px) { p { color: blue } }</style>"
_LIQUID: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


def mjml(body: str) -> str:
    inner = f"<mj-section><mj-column>{body}</mj-column></mj-section>"
    return f"<mjml><mj-head>{HEAD}</mj-head><mj-body>{inner}</mj-body></mjml>"


HEAD: Final = "<mj-title>{{ workspace.name }}</mj-title>"


@pytest.mark.parametrize(
    "liquid",
    [
        'Hi {{ contact.first_name | default: "you" }}',
        "{% if a < 3 and b > 2 %}less & more{% endif %}",
        "<a href=\"https://x.example/?a=1&b={{ contact.id }}&c={{ 'q' | append: 'r' }}\">link</a>",
        "<a href={{ unsubscribe_url }}>out</a>",
        "<table>{% for i in event.items %}<tr><td>{{ i.name }}</td></tr>{% endfor %}</table>",
        "<!--[if mso]> {{ x }} {% if y %}z{% endif %}<![endif]-->",
        "<!--[if !mso]><!--><b>{{ x }}</b>{% if y %}z{% endif %}<!--<![endif]-->",
        "{% raw %}{{ untouched }}{% endraw %}",
        "<p title='{% if a > 1 %}x{% endif %}' class='x'>{{ c }}</p>",
        "lqd0z {{ a }} lqdd1z",
    ],
)
def test_liquid_survives_inlining(liquid: str) -> None:
    inlined = with_inline_styles(f"{STYLE}<p class='x'>red</p>{liquid}")
    assert _LIQUID.findall(inlined) == _LIQUID.findall(liquid)
    assert "color: red" in inlined
    assert re.search(r'<p class="?\'?x\'?"? style="color: ?red;?"', inlined)
    assert "@media" in inlined


@pytest.mark.parametrize(
    "html",
    [
        "<p>no style sheet, so it stays <b>exactly</b> as it is &nbsp;</P>",
        STYLE + '<td {% if a %}bgcolor="red"{% endif %} width="1">x</td>',
        STYLE + "<table>{% for i in x %}{{ i }}<tr></tr>{% endfor %}</table>",
        "<style>{% if dark %}p { color: white }{% endif %}</style><p>x</p>",
        '<style>p { color: red }</style><p style="{{ css }}">x</p>',
    ],
)
def test_what_inlining_would_break_stays_as_written(html: str) -> None:
    assert with_inline_styles(html) == html


def test_nothing_is_fetched_and_no_file_is_read() -> None:
    links = (
        '<link rel="stylesheet" href="http://127.0.0.1:9/x.css">'
        '<link rel="stylesheet" href="/etc/passwd"><link rel="stylesheet" href="file:///etc/passwd">'
    )
    inlined = with_inline_styles(f"<html><head>{links}{STYLE}</head><p class='x'>a</p></html>")
    assert "color: red" in inlined
    assert "root:" not in inlined


@pytest.mark.parametrize(
    "liquid",
    [
        "<mj-text>Hi {{ contact.first_name }}{% if a < 3 %} & more{% endif %}</mj-text>",
        "{% for i in event.items %}<mj-text>{{ i.name }}</mj-text>{% endfor %}",
        '<mj-button href="{{ unsubscribe_url }}?a=1&amp;b=2">Go {{ x }}</mj-button>',
        "<mj-table>{% for i in x %}<tr><td>{{ i }}</td></tr>{% endfor %}</mj-table>",
        "<mj-raw><tr><td>{% if q < 1 %}<b>{{ r }}</b>{% endif %}</td></tr></mj-raw>",
    ],
)
def test_liquid_survives_mjml(liquid: str) -> None:
    html = to_html(mjml(liquid))
    assert isinstance(html, str), html
    body = [tag for tag in _LIQUID.findall(html) if "workspace" not in tag]
    assert body == _LIQUID.findall(liquid)
    assert "<title>{{ workspace.name }}</title>" in html
    assert not isinstance(parse(with_inline_styles(html), html=True), Broken)


@pytest.mark.parametrize(
    "source",
    ["", "hello", "<mjml><mj-body><mj-sect", "<mjml><mj-include path='/etc/passwd'/></mjml>"],
)
def test_what_is_no_mjml_is_refused(source: str) -> None:
    assert isinstance(to_html(source), Broken)


@pytest.mark.parametrize("element", ["div", "mj-wrapper", "table"])
def test_elements_nested_without_end_are_found_before_a_tool_dies_of_them(element: str) -> None:
    broken = nested_too_deep(f"<p>\n{f'<{element}>' * 5_000}")
    assert isinstance(broken, Broken)
    assert broken.line == 2


def test_a_long_mail_is_not_a_deep_one() -> None:
    rows = "<tr><td><p>unclosed<br><img src='x'><td>next" * 2_000
    assert nested_too_deep(f"<table>{rows}</table>{'<div>x</div>' * 2_000}") is None
