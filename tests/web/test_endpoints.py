"""A page that a template names exists: asking for one that does not hides a link for ever."""

import re

from flask import Flask

from tests.rules.checks.pages import templates

ASKED = re.compile(r"\b(?:exists|url_for)\(\s*'([a-z_]+\.[a-z_]+)'")


def test_every_page_that_a_template_names_exists(app: Flask) -> None:
    named = {found for source in templates() for found in ASKED.findall(source.text)}
    assert len(named) > 10
    assert sorted(named - set(app.view_functions)) == []
