"""The words of the API's own refusals; the rooms' words come from their tables.

Owns which sentence a reason or a fault gets in an answer; leaves codes and shape to problems.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Problem, Refused

SENTENCES: Final[Mapping[str, LazyString]] = {
    "no_key": _("Send an API key: Authorization: Bearer <key>."),
    "unknown_api_key": _("This API key is unknown or has been revoked."),
    "wrong_scope": _("This API key lacks the scope %(scope)s."),
    "too_many_requests": _("Too many requests for this key. Try again in %(retry_after)s s."),
    "body_too_large": _("The body is larger than %(limit)s bytes."),
    "not_utf8": _("The body is not UTF-8; the first wrong byte is at position %(position)s."),
    "not_json": _("The body is not JSON: line %(line)s, column %(column)s."),
    "not_a_json_number": _("The body is not JSON: %(name)s is no JSON number."),
    "equal_keys": _("The key %(name)s stands twice in one object."),
    "nested_too_deep": _("Nested deeper than %(limit)s levels."),
    "invalid_input": _("The input is not valid; see errors."),
    "idempotency_mismatch": _(
        "This Idempotency-Key was used with another request. Choose a new key."
    ),
    "idempotency_key_invalid": _("An Idempotency-Key has 1 to 255 printable ASCII characters."),
    "if_match_required": _("Send the ETag that GET answered as If-Match."),
    "etag_mismatch": _("It was changed in the meantime. GET it again and repeat the change."),
    "lost_race": _("Somebody else changed this at the same moment. Try again."),
    "invalid_cursor": _("This cursor does not come from this list."),
    "not_found": _("There is nothing at this address."),
    "method_not_allowed": _("This address does not take this method; see the Allow header."),
    "request_entity_too_large": _("The body is too large."),
    "bad_request": _("The request cannot be read."),
    "internal_server_error": _("Something broke on our side. It has been logged."),
}

# Keys are the error types of pydantic, so that an area's model needs no words of its own.
FAULTS: Final[Mapping[str, LazyString]] = {
    "missing": _("is required"),
    "extra_forbidden": _("is not known here"),
    "string_type": _("must be a text"),
    "string_too_short": _("must have at least %(min_length)s characters"),
    "string_too_long": _("must have at most %(max_length)s characters"),
    "bool_type": _("must be true or false"),
    "int_type": _("must be a whole number"),
    "int_parsing": _("must be a whole number"),
    "float_type": _("must be a number"),
    "dict_type": _("must be an object"),
    "model_type": _("must be an object"),
    "list_type": _("must be a list"),
    "too_long": _("must have at most %(max_length)s items"),
    "greater_than_equal": _("must be at least %(ge)s"),
    "less_than_equal": _("must be at most %(le)s"),
    "literal_error": _("must be one of %(expected)s"),
    "timezone_aware": _("must name its time zone, for example Z or +02:00"),
    "string_pattern_mismatch": _("must match %(pattern)s"),
    "not_a_primitive": _("must be a text, a number, true, false or null"),
    "instant_type": _("must be an instant in ISO 8601 with a zone"),
    "instant_range": _("must lie between 1901 and 2198"),
    "unstorable_text": _("holds characters that cannot be kept"),
    "number_too_large": _("is too large a number"),
    "nested_too_deep": _("is nested deeper than %(limit)s levels"),
    "invalid_cursor": _("does not come from this list"),
}


# Templates, senders and domains change by the API alone so far.
DELIVERY: Final[Mapping[str, LazyString]] = {
    "bad_character": _("holds characters that cannot be kept"),
    "dns_check_not_built": _("The check by DNS comes later; use attest."),
    "domain_invalid": _("is no domain"),
    "email_invalid": _("is no e-mail address"),
    "html_or_mjml": _("Send html or mjml, one of the two."),
    "name_invalid": _("must be one line of at most 200 characters"),
    "purpose_unknown": _("must be marketing or service"),
    "required": _("is required"),
    "send_not_found": _("There is no such send."),
    "sender_exists": _("Another sender has this address; change that one."),
    "sender_is_default": _("The default sender stays. Make another one the default first."),
    "sender_not_found": _("There is no such sender."),
    "sending_domain_not_found": _("There is no such sending domain."),
    "template_broken": _(
        "It does not work as a template (line %(line)s, column %(column)s): %(message)s"
    ),
    "template_in_use": _(
        "Automations name this template, so it stays (their number: %(count)s). Choose another one "
        "there first."
    ),
    "template_not_found": _("There is no such template."),
    "contact_not_found": _("There is no such person."),
    "too_long": _("must have at most %(limit)s characters"),
    "version_changed": _("It was changed in the meantime. GET it again and repeat the change."),
}
Table = Mapping[str, LazyString]
# A code of a body's own schema bears this, since rooms use some of the same words.
SCHEMA: Final = "schema."


def sentence(refused: Refused, rooms: Sequence[Table] = ()) -> str:
    """Return the sentence of a refusal; one without words is spelt out. rooms: tables to ask."""
    return _say((SENTENCES, *rooms), refused.reason, refused.params)


def fault(problem: Problem, rooms: Sequence[Table] = ()) -> str:
    """Return what is wrong at one place of the input."""
    if problem.code.startswith(SCHEMA):
        return _say((FAULTS,), problem.code.removeprefix(SCHEMA), problem.params)
    return _say((*rooms, FAULTS), problem.code, problem.params)


def _say(tables: Sequence[Table], code: str, params: Mapping[str, str | int]) -> str:
    for table in tables:
        if code in table:
            try:
                return str(table[code]) % dict(params)
            except KeyError:
                # The same code with other parameters: not this table's.
                continue
    return str(params.get("detail") or code.replace("_", " "))
