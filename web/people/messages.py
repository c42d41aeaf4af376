"""The words of audience: refusals and faults of people, topics, properties and events."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

WORDS: Final[Mapping[str, LazyString]] = {
    "already_suppressed": _("This email address is already blocked"),
    "already_exists": _("A person with this address or number exists already; change that one."),
    "contact_not_found": _("There is no such person."),
    "contact_required": _("Say who: a person, or one made up for the trial."),
    "identity_conflict": _("The address and the number belong to two different people."),
    "identity_missing": _("An e-mail address or a number of your own is needed."),
    "in_the_future": _("This instant lies in the future."),
    "invalid_contact": _("The person cannot be saved; see the list of faults."),
    "invalid_email": _("This is no e-mail address."),
    "invalid_event": _("The event cannot be taken; see the list of faults."),
    "invalid_event_name": _("An event needs a name of at most 100 characters."),
    "invalid_key": _("This is no key: use letters, digits and _, at most 100 of them."),
    "invalid_language": _("This is no language, such as de or en-GB."),
    "invalid_property": _("The property cannot be saved; see the list of faults."),
    "invalid_text": _("This text holds characters that cannot be kept."),
    "invalid_topic": _("The topic cannot be saved; see the list of faults."),
    "invalid_value": _("This value cannot be kept."),
    "lost_race": _("Somebody else changed this at the same moment. Try again."),
    "not_a_boolean": _("This must be true or false."),
    "not_a_number": _("This must be a number."),
    "not_a_instant": _("This must be an instant with a zone, such as 2026-03-02T09:00:00Z."),
    "not_a_text": _("This must be a text."),
    "not_a_primitive": _("This must be a text, a number, true, false or nothing."),
    "not_an_object": _('Write an object in JSON, such as {"plan": "pro"}.'),
    "property_exists": _("There is a property “%(key)s” already; choose another key."),
    "property_not_found": _("There is no such property."),
    "required": _("Something is missing here."),
    "reserved_key": _("This key is one of the built-in fields."),
    "suppression_not_found": _("There is no such entry in the suppression list."),
    "too_long": _("At most %(limit)s characters."),
    "too_long_ago": _("This instant lies too long ago."),
    "too_many": _("At most %(limit)s of them."),
    "topic_not_found": _("There is no such topic."),
    "unknown_key": _("This field is not known."),
    "unknown_reason": _("The reason is one of bounced, complained, manual, unengaged."),
    "unknown_property": _("There is no such property. Define it first."),
    "unknown_timezone": _("There is no such time zone; one is Europe/Berlin."),
    "unknown_type": _("The type is one of text, number, boolean, instant."),
}


def words(refused: Refused | Problem) -> str:
    """Return the sentence for a refusal of audience, or for one of its problems."""
    code = refused.reason if isinstance(refused, Refused) else refused.code
    said = WORDS.get(code)
    return str(said) % dict(refused.params) if said is not None else code.replace("_", " ")
