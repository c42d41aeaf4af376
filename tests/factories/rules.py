"""Conditions for tests, read from documents as the product reads them."""

from typing import Any

from engine.rules.service import Condition, read_condition


def condition(**document: Any) -> Condition:
    """Return the condition of a document that has no fault."""
    read = read_condition(document, "/condition")
    assert isinstance(read, Condition), read
    return read
