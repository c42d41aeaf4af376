"""Helpers for tests of the editor: a draft to work on, and its forms as a browser sends them."""

from typing import Any

from werkzeug.test import TestResponse

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.web.picking import one, pick
from tests.web.support import HTMX, Reader, Town, tree

SWAP = {**HTMX, "HX-Target": "rail"}


class Desk:
    """One draft and somebody who edits it in a browser."""

    def __init__(self, reader: Reader, uow: UnitOfWork, town: Town, public_id: str) -> None:
        self.reader, self.uow, self.town, self.public_id = reader, uow, town, public_id
        self.page = f"/automations/{public_id}"

    def document(self) -> dict[str, Any]:
        """Return the draft as it is stored."""
        with self.uow.read() as session:
            seen = service.current(session, self.town.workspace_id, self.public_id)
            assert seen is not None
            return seen.document

    def version(self) -> int:
        """Return the version of the draft."""
        with self.uow.read() as session:
            seen = service.current(session, self.town.workspace_id, self.public_id)
            assert seen is not None
            return seen.version

    def order(self) -> list[str]:
        """Return the keys of the steps in their order."""
        return [step["key"] for step in self.document()["steps"]]

    def step(self, key: str) -> dict[str, Any]:
        """Return a step of the stored draft."""
        return next(step for step in self.document()["steps"] if step["key"] == key)

    def form(self, query: str, action: str) -> dict[str, Any]:
        """Return the form with this action on a page of the editor, as a browser would send it."""
        return fields(self.reader.get(f"{self.page}{query}"), f"{self.page}{action}")

    def send(self, action: str, data: dict[str, Any], **headers: str) -> TestResponse:
        """Send a form of the editor."""
        return self.reader.post(f"{self.page}{action}", data, headers)

    def edit(self, query: str, action: str, **changes: Any) -> TestResponse:
        """Open a page, change some fields of one of its forms and send it."""
        return self.send(action, {**self.form(query, action), **changes})


def desk(
    reader: Reader, uow: UnitOfWork, town: Town, clock: FixedClock, *steps: dict[str, Any]
) -> Desk:
    """Return the editor of a new draft with these steps."""
    with uow.begin() as session:
        raw = making.document(*steps)
        saved = service.create(session, town.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved), saved
    return Desk(reader, uow, town, saved.public_id)


def fields(answer: TestResponse, action: str) -> dict[str, Any]:
    """Return what a browser sends with the form that has this action; a list for many values."""
    form = one(tree(answer), f"form[action={action}]")
    found: dict[str, Any] = {}
    for field in pick(form, "[name]"):
        kind = field.get("type")
        if field.tag == "button":
            continue
        if kind in ("radio", "checkbox") and field.get("checked") is None:
            continue
        name, value = str(field.get("name")), _value(field)
        if kind == "checkbox":
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


def _value(field: Any) -> str:
    if field.tag == "select":
        chosen = field.xpath(".//option[@selected]") or field.xpath(".//option")
        return str(chosen[0].get("value")) if chosen else ""
    if field.tag == "textarea":
        return (field.text or "").removeprefix("\n").removeprefix("\r\n")
    return str(field.get("value", "on" if field.get("type") == "checkbox" else ""))
