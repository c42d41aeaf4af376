"""What the markup of every page says: title, landmarks, labels, times, dialogs, dangerous verbs."""

import re
from collections import Counter
from collections.abc import Mapping

import pytest
from lxml.html import HtmlElement

from tests.factories.scenes import Scene
from tests.web.picking import pick, words
from tests.web.support import Reader, crawl, tree

CLOCK = re.compile(r"\d{1,2}:\d{2}")
ZONE = re.compile(r" (?:UTC|[A-Z]{3,5}|[+-]\d{2,4})$")
# What is shown as it came or was typed, and code; times in it are not ours.
AS_IT_IS = {"bdi", "code", "pre", "option", "script", "style", "textarea", "time", "title"}
# Words that name no act: a button says what it does.
IDLE = {"ok", "yes", "no", "confirm", "submit", "continue", "cancel"}
# The pages are read once for all tests of this file; nothing is changed.
_SEEN: dict[str, HtmlElement] = {}


@pytest.fixture
def pages(owner: Reader, scene: Scene) -> Mapping[str, HtmlElement]:
    """Return every page with the frame of the console that visible links lead to."""
    if not _SEEN:
        found = {
            path: tree(answer)
            for path, answer in crawl(owner, leave="lang=")
            if answer.status_code == 200 and answer.mimetype == "text/html"
        }
        _SEEN.update((path, page) for path, page in found.items() if pick(page, "nav.side"))
    assert len(_SEEN) > 40
    return _SEEN


def test_every_page_has_title_landmarks_a_way_past_the_navigation_and_a_language(
    pages: Mapping[str, HtmlElement],
) -> None:
    wrong = [
        path
        for path, page in pages.items()
        if len(pick(page, "h1")) != 1
        or len(pick(page, "main#main")) != 1
        or not pick(page, "header.top")
        or page.xpath("//nav[not(@aria-label) and not(@aria-labelledby)]")
        or [a.get("href") for a in page.xpath("//body/a[1]")] != ["#main"]
        or page.get("lang") != "en"
    ]
    assert wrong == []


def test_no_id_stands_twice_on_a_page_and_what_happens_is_announced(
    pages: Mapping[str, HtmlElement],
) -> None:
    twice = {
        path: again
        for path, page in pages.items()
        if (again := [name for name, n in Counter(page.xpath("//@id")).items() if n > 1])
    }
    assert twice == {}
    for path, page in pages.items():
        (said,) = pick(page, "main #said")
        assert (said.get("role"), said.get("aria-live")) == ("status", "polite"), path


def test_the_title_names_page_area_workspace_and_product_and_no_two_pages_share_one(
    pages: Mapping[str, HtmlElement],
) -> None:
    # What stands behind a `?` or opens beside the plan is a part of one and the same page; a mail
    # is called by its subject, which others may share.
    titles = {
        path.partition("?")[0]: words(pick(page, "title")[0])
        for path, page in pages.items()
        if not path.startswith(("/people/find", "/sends/")) and "/steps/" not in path
    }
    assert not [title for title in titles.values() if not title.endswith(" – Acme – Stellwerk")]
    shared = [title for title, count in Counter(titles.values()).items() if count > 1]
    assert {path: title for path, title in titles.items() if title in shared} == {}
    headings = {path: words(pick(page, "h1")[0]) for path, page in pages.items()}
    assert not [path for path in titles if headings.get(path, "") not in titles[path]]


def test_every_field_has_a_visible_label_and_its_help_is_tied_to_it(
    pages: Mapping[str, HtmlElement],
) -> None:
    nameless, untied = [], []
    for path, page in pages.items():
        known = {str(each.get("id")) for each in page.xpath("//*[@id]")}
        for field in page.xpath("//input[not(@type='hidden')] | //select | //textarea"):
            if not _labelled(page, field):
                nameless.append((path, field.get("name")))
            tied = str(field.get("aria-describedby", "")).split()
            helped = f"{field.get('id')}-help"
            if not set(tied) <= known or (helped in known and helped not in tied):
                untied.append((path, field.get("name")))
    assert nameless == []
    assert untied == []


def test_every_time_bears_its_zone_and_none_stands_outside_of_that_form(
    pages: Mapping[str, HtmlElement],
) -> None:
    seen, bare = 0, []
    for path, page in pages.items():
        for time in pick(page, "time"):
            seen += 1
            assert str(time.get("title")).endswith(" UTC"), path
            assert str(time.get("datetime")).endswith("+00:00"), path
            # A line of a log shows the time alone where its day stands above it.
            shown = words(time)
            assert ZONE.search(shown) or re.fullmatch(r"\d\d:\d\d:\d\d", shown), (path, shown)
        # The guide tells of times of day, of no instant.
        if not path.startswith("/help/"):
            bare += [(path, text.strip()) for text in _texts(page) if CLOCK.search(text)]
    assert seen > 100
    assert bare == []


def test_every_dialog_names_its_object_says_its_act_and_offers_the_way_back_first(
    pages: Mapping[str, HtmlElement],
) -> None:
    seen = set()
    for path, page in pages.items():
        for dialog in pick(page, "dialog"):
            title = page.get_element_by_id(str(dialog.get("aria-labelledby")))
            assert words(title).endswith("?"), path
            acts = dialog.xpath(".//a[@role='button'] | .//button")
            assert acts[0].get("data-close") is not None, (path, words(title))
            verbs = [words(each).lower() for each in acts]
            assert not IDLE & set(verbs), (path, verbs)
            seen.add(dialog.get("id"))
    assert {"ask-pause", "ask-resume", "ask-delete", "ask-retry", "ask-cancel"} <= seen


def _labelled(page: HtmlElement, field: HtmlElement) -> bool:
    if field.xpath("ancestor::label[normalize-space()]"):
        return True
    if field.get("id") and page.xpath("//label[@for=$id][normalize-space()]", id=field.get("id")):
        return True
    # A search box is labelled by the button beside it (WCAG technique G167).
    return bool(field.xpath("ancestor::form[@role='search']//button[normalize-space()]")) and bool(
        field.get("aria-label")
    )


def _texts(page: HtmlElement) -> list[str]:
    """Return the texts of the main part, but for what came from elsewhere."""
    found = []
    for text in page.xpath("//main//text()"):
        beside = text.getparent()
        around = {each.tag for each in beside.iterancestors()}
        if not (around if text.is_tail else around | {beside.tag}) & AS_IT_IS:
            found.append(str(text))
    return found
