"""The words of secrets' refusals, as people read them."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

WORDS: Final[Mapping[str, LazyString]] = {
    "name_invalid": _("The name holds characters that cannot be kept."),
    "name_missing": _("Give it a name."),
    "name_too_long": _("The name may have at most %(longest)s characters."),
    "secret_address_invalid": _("This is no web address; it begins with https:// or http://."),
    "secret_name_taken": _("There is a secret of this name already."),
    "secret_not_found": _("There is no such secret in this workspace."),
    "secret_value_missing": _("Enter the address."),
    "secret_weak": _("A signing secret has %(shortest)s to %(longest)s printable characters."),
    "too_many_secrets": _("A workspace keeps at most %(limit)s secrets."),
    "unknown_secret_kind": _("Choose what the secret is for."),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of secrets, or for one of its problems."""
    reason = refused.reason if isinstance(refused, Refused) else refused.code
    return str(WORDS[reason]) % dict(refused.params)
