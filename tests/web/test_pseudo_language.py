"""A language in which every word of the catalogue stands in brackets: what stands outside of them
on a page is data, or a text that somebody forgot to mark."""

import re
from collections.abc import Iterator
from typing import Any, Final

import flask_babel
import pytest
from flask import Flask
from lxml import html
from werkzeug.test import TestResponse

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.web.samples import furnish
from tests.web.support import Reader, Town, crawl, everything, tree
from web import filters

OPEN, CLOSE = "⟦", "⟧"
MARKED: Final = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
WORD: Final = re.compile(r"[^\W\d_]{2,}")
# What is shown as it is stored, and what programs read.
DATA: Final = frozenset({"bdi", "code", "pre", "time", "script", "style", "option", "textarea"})
SPOKEN: Final = ("aria-label", "placeholder", "title", "alt", "data-copied")
# Names that are the same in every language.
NAMES: Final = frozenset({"stellwerk", "de", "en", "deutsch", "english", "html", "mjml", "ms"})
# The description of the API is written for programmers, in English.
APART: Final = ("/api/",)


class Pseudo:
    """Translations that put every text in brackets."""

    def ugettext(self, text: str) -> str:
        """Return the text in brackets."""
        return f"{OPEN}{text}{CLOSE}"

    def ungettext(self, one: str, many: str, number: int) -> str:
        """Return the text for the number in brackets."""
        return self.ugettext(one if number == 1 else many)

    def upgettext(self, _context: str, text: str) -> str:
        """Return the text in brackets."""
        return self.ugettext(text)

    def unpgettext(self, _context: str, one: str, many: str, number: int) -> str:
        """Return the text for the number in brackets."""
        return self.ungettext(one, many, number)


@pytest.fixture(autouse=True)
def _pseudo_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flask_babel.Domain, "get_translations", lambda _self: Pseudo())
    # Spans of time come from the language's own data, not from the catalogue.
    monkeypatch.setattr(filters, "_delta", lambda *_arguments, **_options: "")


@pytest.mark.parametrize("furnished", [True, False], ids=["full", "empty"])
def test_every_text_of_every_page_is_marked(
    app: Flask, house: House, clock: FixedClock, uow: UnitOfWork, acme: Town, furnished: bool
) -> None:
    if furnished:
        furnish(house, clock, acme.workspace_id)
    stranger, reader = Reader(app), Reader(app)
    pages = {"sign-in": stranger.get("/"), "wrong": stranger.sign_in("a@b.example", "x")}
    reader.sign_in(acme.people["owner"])
    pages |= dict(crawl(reader))
    pages["none"] = reader.get("/none")
    with uow.read() as session:
        rows = repr(everything(session)).replace("\\r", " ").replace("\\n", " ")
    known = NAMES | {word.lower() for word in WORD.findall(rows)}
    found = {
        path: words
        for path, answer in pages.items()
        if not path.startswith(APART) and (words := _unmarked(answer, known))
    }
    assert found == {}
    assert OPEN in pages["/"].text


def test_a_text_that_is_not_marked_is_found() -> None:
    page = html.document_fromstring(
        "<p title='Say more ⟦a ⟦b⟧⟧'>Forgotten <b>⟦marked</b> words⟧ <i>here</i><bdi>Kim</bdi></p>"
    )
    assert sorted(_words(page)) == ["Forgotten", "Say", "here", "more"]


def _unmarked(answer: TestResponse, known: frozenset[str] | set[str]) -> list[str]:
    if answer.mimetype != "text/html" or answer.status_code in {302, 303}:
        return []
    return [word for word in _words(tree(answer)) if word.lower() not in known]


def _words(page: html.HtmlElement) -> Iterator[str]:
    """Yield the words of a page that no brackets surround; a marked sentence may hold elements."""
    depth = 0
    for text, counts in _in_order(page):
        for piece in re.split(f"([{OPEN}{CLOSE}])", text):
            depth += (piece == OPEN) - (piece == CLOSE)
            if depth == 0 and counts:
                yield from WORD.findall(piece)
    for element in page.iter():
        for name in SPOKEN:
            words = element.get(name, "") if isinstance(element.tag, str) else ""
            yield from _outside(words)


def _outside(text: str) -> list[str]:
    before = ""
    while before != text:
        before, text = text, MARKED.sub(" ", text)
    return WORD.findall(text)


def _in_order(element: Any, shown: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a page as they stand, and whether each is more than data."""
    if isinstance(element.tag, str):
        inside = shown and element.tag not in DATA
        yield element.text or "", inside
        for child in element:
            yield from _in_order(child, inside)
    yield element.tail or "", shown
