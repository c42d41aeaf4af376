"""The words of templates: what is wrong with one, why a test mail did not leave."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

WORDS: Final[Mapping[str, LazyString]] = {
    "bad_character": _("It holds characters that cannot be kept."),
    "contact_not_found": _("There is no such person."),
    "html_or_mjml": _("Write it in HTML or in MJML."),
    "no_sender": _("There is no default sender yet, so no mail can leave."),
    "purpose_unknown": _("Choose marketing or service."),
    "suppressed": _("Your address is on the suppression list, so no mail goes there."),
    "required": _("Something is missing here."),
    "template_broken": _("It does not work (line %(line)s, column %(column)s): %(message)s"),
    "template_not_found": _("There is no such template."),
    "too_long": _("At most %(limit)s characters."),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of a template, or for one of its problems."""
    reason = refused.reason if isinstance(refused, Refused) else refused.code
    return str(WORDS[reason]) % dict(refused.params)
