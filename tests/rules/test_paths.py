"""The whole path is gone by visible roles and labels, from one address; once by keyboard alone."""

import pytest

from tests.rules.checks import paths
from tests.rules.checks.source import Check, breaches, snippet, sources


def test_the_whole_path_is_gone_by_what_one_sees() -> None:
    files = [file for file in sources("tests") if file.path in paths.SEEING]
    assert len(files) == len(paths.SEEING)
    assert breaches(paths.by_parts, files) == []


def test_the_keyboard_is_never_helped_by_a_hand() -> None:
    assert breaches(paths.by_hand, sources("tests")) == []


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (paths.by_parts, "page.locator('#rail').click()"),
        (paths.by_parts, "page.get_by_test_id('rail')"),
        (paths.by_parts, "page.goto(f'{stack.base_url}/runs')"),
        (paths.by_hand, "keys.page.get_by_label('Name').fill('Welcome')"),
        (paths.by_hand, "page.get_by_role('button').click()"),
    ],
)
def test_a_planted_shortcut_is_found(check: Check, planted: str) -> None:
    assert list(check(snippet(planted, "tests/browser/test_whole_path_by_keyboard.py")))
    assert not list(check(snippet(planted, "tests/browser/test_editor.py")))
