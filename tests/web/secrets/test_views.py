"""The page of secrets: a value is shown once or never, and a deletion says who needs it."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from engine.accounts.models import Secret
from engine.accounts.service.secrets import PURPOSE
from engine.core import crypto
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.factories.secrets import secret
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

NEW = {"name": "Shop", "kind": "signing", "value": ""}


def stored(uow: UnitOfWork) -> list[Secret]:
    with uow.read() as session:
        return list(session.scalars(select(Secret).order_by(Secret.id)))


def test_a_signing_secret_is_made_shown_once_and_stored_sealed(
    owner: Reader, uow: UnitOfWork
) -> None:
    answer = owner.post("/secrets", NEW)
    assert (answer.status_code, answer.location) == (303, "/secrets")
    with owner.client.session_transaction() as cookie:
        said = str(dict(cookie))
    fresh = tree(owner.get("/secrets"))
    value = words(one(fresh, "#fresh-secret"))
    assert words(one(fresh, "[data-copy=fresh-secret]")) == "Copy"
    [row] = stored(uow)
    assert crypto.unseal(row.sealed, PURPOSE) == value
    assert value.removeprefix("whsec_") not in said
    again = owner.get("/secrets")
    assert value not in again.text
    assert f"…{value[-4:]}" in again.text


def test_a_value_that_nobody_came_for_is_not_shown_later(owner: Reader, clock: FixedClock) -> None:
    owner.post("/secrets", NEW)
    clock.advance(timedelta(minutes=6))
    assert pick(tree(owner.get("/secrets")), "#fresh-secret") == []


def test_a_value_of_ones_own_is_never_shown(owner: Reader, uow: UnitOfWork) -> None:
    address = "https://chat.example/services/T0/B0/abcdef"
    owner.post("/secrets", {"name": "Sales", "kind": "address", "value": address})
    page = owner.get("/secrets")
    assert texts(tree(page), "#said p") == ["The secret is stored. It is not shown again."]
    assert address not in page.text
    [row] = stored(uow)
    assert crypto.unseal(row.sealed, PURPOSE) == address


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"kind": "address"}, "value"),
        ({"value": "short"}, "value"),
        ({"name": "Taken"}, "name"),
    ],
)
def test_what_is_no_secret_is_refused_at_its_field(
    owner: Reader, uow: UnitOfWork, acme: Town, change: dict[str, str], field: str
) -> None:
    with uow.begin() as session:
        secret(session, acme.workspace_id, "Taken")
    answer = owner.post("/secrets", {**NEW, **change})
    assert answer.status_code == 422
    assert one(tree(answer), "#mistakes a").get("href") == f"#{field}"
    assert len(stored(uow)) == 1


def test_a_deletion_says_who_needs_it_and_then_it_is_gone(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        made = secret(session, acme.workspace_id)
        config = {"url": "https://shop.example/", "secret_id": made.public_id}
        step = {"key": "tell", "type": "webhook", "config": config}
        raw = making.document(step, name="Thanks")
        making.live(session, acme.workspace_id, raw, clock.now())
        making.live(
            session, acme.workspace_id, making.document(making.delay("a"), name="No"), clock.now()
        )
    page = tree(owner.get(f"/secrets?ask=delete-{made.public_id}"))
    assert texts(page, "dialog li") == ["Thanks"]
    answer = owner.post(f"/secrets/{made.public_id}/delete", {})
    assert answer.status_code == 303
    assert stored(uow) == []
    assert owner.post(f"/secrets/{made.public_id}/delete", {}).status_code == 404


def test_who_may_only_read_sees_no_form(app: Flask, uow: UnitOfWork, acme: Town) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people["support"])
    with uow.begin() as session:
        made = secret(session, acme.workspace_id)
    page = tree(reader.get("/secrets"))
    assert pick(page, "form[action=/secrets]") == []
    assert "Hook" in texts(page, "tbody th .strong")
    assert reader.post("/secrets", NEW).status_code == 403
    assert reader.post(f"/secrets/{made.public_id}/delete", {}).status_code == 403
