"""Judges what was sent for a contact before it is looked up: pure, every fault at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from engine.audience import values
from engine.audience.addresses import read_address
from engine.audience.inputs import ContactInput, ContactPatch
from engine.core.outcome import Problem, below
from engine.core.text import storable

FIELDS: Final = ("email", "external_id", "first_name", "last_name", "language", "timezone")
_LONGEST: Final = {"external_id": 200, "first_name": 200, "last_name": 200, "timezone": 60}
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,6})?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


@dataclass(frozen=True)
class Change:
    """What a write asks for, cleaned. None clears; a key that is absent stays."""

    fields: Mapping[str, str | None]
    values: Mapping[str, values.TypedValue | None]

    @property
    def email(self) -> str | None:
        """Return the address the change names."""
        return self.fields.get("email")

    @property
    def external_id(self) -> str | None:
        """Return the external id the change names."""
        return self.fields.get("external_id")


def clean_input(sent: ContactInput, definitions: Mapping[str, str]) -> Change | list[Problem]:
    """Return the change of a whole contact: what is empty in it is not asked for (facts 3.1).

    definitions: the type of every custom property of the workspace, by key.
    """
    fields = {field: getattr(sent, field) for field in FIELDS}
    change = _clean(fields, sent.properties, definitions)
    if isinstance(change, list):
        return change
    named = {field: text for field, text in change.fields.items() if text is not None}
    if "email" not in named and "external_id" not in named:
        return [Problem("/email", "identity_missing")]
    filled = {
        key: value for key, value in change.values.items() if value is not None and value.text != ""
    }
    return Change(named, filled)


def clean_patch(sent: ContactPatch, definitions: Mapping[str, str]) -> Change | list[Problem]:
    """Return the change of a PATCH, in which null clears."""
    return _clean(sent.fields, sent.properties, definitions)


def _clean(
    fields: Mapping[str, str | None],
    properties: Mapping[str, object],
    definitions: Mapping[str, str],
) -> Change | list[Problem]:
    problems: list[Problem] = []
    cleaned: dict[str, str | None] = {}
    for field, raw in fields.items():
        text = _clean_field(field, raw)
        if isinstance(text, Problem):
            problems.append(text)
        else:
            cleaned[field] = text
    typed: dict[str, values.TypedValue | None] = {}
    for key, value in properties.items():
        read = _read_property(key, value, definitions)
        if isinstance(read, Problem):
            problems.append(read)
        else:
            typed[key] = read
    return problems or Change(cleaned, typed)


def _clean_field(field: str, raw: str | None) -> str | Problem | None:
    pointer = f"/{field}"
    if field not in FIELDS:
        return Problem(pointer, "unknown_key")
    if raw is None or not raw.strip():
        return None
    if field == "email":
        return read_address(raw) or Problem(pointer, "invalid_email")
    text = raw.strip()
    limit = _LONGEST.get(field, values.LONGEST)
    if len(text) > limit:
        return Problem(pointer, "too_long", {"limit": limit})
    if _CONTROL.search(text) or not storable(text):
        return Problem(pointer, "invalid_text")
    if field == "language" and not _LANGUAGE.fullmatch(text):
        return Problem(pointer, "invalid_language")
    if field == "timezone" and text not in _zones():
        return Problem(pointer, "unknown_timezone")
    return text


def _read_property(
    key: str, raw: object, definitions: Mapping[str, str]
) -> values.TypedValue | Problem | None:
    pointer = below("/properties", key)
    if key not in definitions:
        return Problem(pointer, "unknown_property")
    return values.read(definitions[key], raw, pointer)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
