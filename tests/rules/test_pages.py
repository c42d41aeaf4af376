"""Templates keep to the Content-Security-Policy, and their names say what they are."""

import pytest

from tests.rules.checks import pages
from tests.rules.checks.source import Check, breaches, snippet


def test_there_are_pages() -> None:
    assert {source.path for source in pages.templates()} > pages.SHELLS


def test_no_template_has_inline_styles_scripts_or_handlers() -> None:
    assert breaches(pages.inline_content, pages.templates()) == []


def test_pages_extend_the_shell_and_fragments_do_not() -> None:
    assert breaches(pages.misnamed, pages.templates()) == []


@pytest.mark.parametrize(
    ("check", "path", "planted"),
    [
        (pages.inline_content, "templates/x/y.html", '<p\n style="color: red">'),
        (pages.inline_content, "templates/x/y.html", "<style>p {}</style>"),
        (pages.inline_content, "templates/x/y.html", "<script>alert(1)</script>"),
        (pages.inline_content, "templates/x/y.html", '<button type="button" onclick="go()">'),
        (pages.inline_content, "templates/x/y.html", '<button hx-on:click="go()">'),
        (pages.inline_content, "templates/x/y.html", "<a href='javascript:go()'>"),
        (pages.inline_content, "templates/x/y.html", "{{ name | safe }}"),
        (pages.misnamed, "templates/x/y.html", "<h1>no shell</h1>"),
        (pages.misnamed, "templates/x/_y.html", '{% extends "base.html" %}'),
    ],
)
def test_a_planted_breach_is_found(check: Check, path: str, planted: str) -> None:
    assert list(check(snippet(planted, path)))


def test_a_proper_page_and_a_proper_fragment_pass() -> None:
    page = snippet(
        '{% extends "base.html" %}<script src="/static/app.js"></script>', "templates/x/y.html"
    )
    fragment = snippet('<tr data-on="x"><td>{{ name }}</td></tr>', "templates/x/_y.html")
    for source in (page, fragment):
        assert list(pages.inline_content(source)) == []
        assert list(pages.misnamed(source)) == []
