"""The gallery: texts to begin a template with, in files of our own; no rows of the database.

A file in starters/<language>/ has a head of `name: value` lines, a line of three hyphens, the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.delivery.service import TemplateInput

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
_FILES: Final = Path(__file__).parent / "starters"
_MJML: Final = ".mjml"
# What each text is for, in the order of the gallery.
FOR: Final[Mapping[str, LazyString]] = {
    "welcome": _("The first mail to somebody new: what to begin with, and who answers."),
    "basket": _("Once, some hours after a basket was left. Its address may come with the event."),
    "winback": _("To somebody who has not been there for months; leaving is made easy."),
    "voucher": _("A thank-you to somebody loyal. Put in your code, or send it with the event."),
    "review": _("A week or two after the delivery, when there is something to tell."),
    "birthday": _("On the day, for automations that start on a date."),
    "note": _("Plain, like a mail from one person to another; good for a question."),
}


@dataclass(frozen=True)
class Starter:
    """One text. language: en or de; key: what it is for; given: the template it begins."""

    language: str
    key: str
    given: TemplateInput

    @property
    def about(self) -> LazyString:
        """Return what the text is for, in words."""
        return FOR[self.key]


@cache
def shelf(language: str) -> Sequence[Starter]:
    """Return the texts of a language in the order of the gallery; () for one that has none."""
    if language not in LANGUAGES:
        return ()
    found = {path.stem: path for path in (_FILES / language).iterdir()}
    return tuple(Starter(language, key, _read(found[key])) for key in FOR if key in found)


def find(language: str, key: str) -> Starter | None:
    """Return one text, None where there is none."""
    return next((each for each in shelf(language) if each.key == key), None)


def _read(path: Path) -> TemplateInput:
    head, _line, source = path.read_text("utf-8").partition("\n---\n")
    said = dict(line.split(": ", 1) for line in head.splitlines())
    mjml = path.suffix == _MJML
    return TemplateInput(
        name=said["name"],
        subject=said["subject"],
        html=None if mjml else source,
        mjml=source if mjml else None,
        text=None,
        purpose=said["purpose"],
        allow_repeat=None,
    )
