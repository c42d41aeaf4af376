"""German and English: which one a page speaks, and the time zone it shows.

The session's own choice (?lang=, POST /language) wins, then the person's, then the browser's.
"""

from pathlib import Path
from typing import Final

from flask import Flask, request, session
from flask_babel import Babel

from web.auth import signed_in_person

LANGUAGES: Final = ("en", "de")
TRANSLATIONS: Final = Path(__file__).parent / "translations"
_KEY: Final = "language"


def register(app: Flask) -> None:
    """Connect gettext, dates and numbers with the reader's language."""
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(TRANSLATIONS)
    Babel(app, locale_selector=_language, timezone_selector=_timezone)
    app.before_request(_switch)


def choose(language: str) -> bool:
    """Let this browser's session speak `language` from now on; False when we do not speak it."""
    if language not in LANGUAGES:
        return False
    session[_KEY] = language
    return True


def _switch() -> None:
    wanted = request.args.get("lang")
    if wanted is not None:
        choose(wanted)


def _language() -> str:
    chosen = session.get(_KEY)
    if chosen in LANGUAGES:
        return str(chosen)
    person = signed_in_person()
    if person is not None and person.language in LANGUAGES:
        return str(person.language)
    return request.accept_languages.best_match(LANGUAGES, LANGUAGES[0])


def _timezone() -> str:
    person = signed_in_person()
    return person.timezone if person is not None else "UTC"
