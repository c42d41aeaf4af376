"""The words of the first page: what starts an automation, and where a person stands."""

from collections.abc import Callable, Mapping
from typing import Final

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.automations.models import CANCELLED, COMPLETED
from engine.automations.queries import RunRow
from engine.core.db import JsonObject

_TRIGGERS: Final[Mapping[str, LazyString]] = {
    "contact_created": _("Starts when a person becomes known"),
    "contact_updated": _("Starts when a person's data changes"),
    "event_received": _("Starts with an event"),
    "topic_subscribed": _("Starts when a person subscribes to a topic"),
}
_NAMED: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "contact_updated": (
        "property_key",
        lambda name: gettext("Starts when “%(name)s” of a person changes", name=name),
    ),
    "event_received": (
        "event_name",
        lambda name: gettext("Starts with the event “%(name)s”", name=name),
    ),
}


def trigger(kind: str, config: JsonObject) -> str:
    """Return what starts an automation; a kind of a later version keeps its stored name."""
    key, words = _NAMED.get(kind, ("", str))
    name = config.get(key)
    return str(words(str(name))) if name else str(_TRIGGERS.get(kind, kind))


def standing(run: RunRow) -> str:
    """Return where the person of a run stands."""
    if run.status == COMPLETED:
        return str(gettext("finished"))
    if run.status == CANCELLED:
        return str(gettext("left early"))
    if run.step_key is None:
        return str(gettext("is on the way"))
    return str(gettext("stands at “%(step)s”", step=run.step_key))
