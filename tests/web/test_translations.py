"""The German catalogue: every text of code and templates has its words, and they fit in."""

import re
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

from tests.web.support import Reader
from web.i18n import LANGUAGES, TRANSLATIONS

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [language for language in LANGUAGES if language != "en"]
# What must be the same in both languages: parameters and tags.
FIXED = re.compile(r"%\(\w+\)[sd]|</?\w+>|%%")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return every text that code and templates mark, gathered as `make translations` does."""
    target = tmp_path_factory.mktemp("texts") / "messages.pot"
    command = ["pybabel", "--quiet", "extract", "--keywords", "_l lazy_gettext"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        mapping = ["--mapping-file", "pyproject.toml", "--output-file", str(target), "."]
        CommandLineInterface().run([*command, *mapping])  # type: ignore[no-untyped-call]
    return _read(target)


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_is_missing_and_none_is_left_over(texts: Catalog, language: str) -> None:
    wanted, found = _ids(texts), _ids(_catalogue(language))
    assert len(wanted) > 100
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_and_nothing_is_a_guess(language: str) -> None:
    messages = [message for message in _catalogue(language) if message.id]
    assert [message.id for message in messages if not all(_strings(message))] == []
    assert [message.id for message in messages if message.fuzzy] == []


@pytest.mark.parametrize("language", OTHERS)
def test_parameters_and_tags_are_those_of_the_english_text(language: str) -> None:
    wrong = [
        (english, words)
        for message in _catalogue(language)
        if message.id
        for english, words in zip(_pair(message.id), _strings(message), strict=True)
        if Counter(FIXED.findall(english)) != Counter(FIXED.findall(words))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", OTHERS)
def test_the_compiled_catalogue_is_in_use(stranger: Reader, language: str) -> None:
    (words,) = _strings(_message(language, "Sign in"))
    assert f"<h1>{words}</h1>" in stranger.get(f"/?lang={language}").text


def _catalogue(language: str) -> Catalog:
    return _read(TRANSLATIONS / language / "LC_MESSAGES" / "messages.po")


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def _ids(catalogue: Catalog) -> set[str]:
    return {_pair(message.id)[0] for message in catalogue if message.id}


def _message(language: str, text: str) -> Message:
    found = _catalogue(language).get(text)
    assert found is not None
    return found


def _pair(texts: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _strings(message: Message) -> tuple[str, ...]:
    return _pair(message.string or "")
