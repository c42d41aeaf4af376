"""The door of the API: who gets in, how often, and that refusals are problem documents."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from engine.accounts.models import ApiKey
from engine.core.boot import Runtime
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import accounts
from tests.web.api.support import Program, problem, program, reply
from tests.web.support import Reader, Town, everything
from web.factory import make_app

EVENT = {
    "email": "ada@people.example",
    "event_name": "go",
    "create_contact_if_not_exists": True,
}


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "no_key"),
        ("Bearer", "no_key"),
        ("Bearer  ", "no_key"),
        ("Basic YWRhOnNlY3JldA==", "no_key"),
        ("Bearer nobody-knows-this-key", "unknown_api_key"),
        ("Bearer \xe9\xe9\xe9", "unknown_api_key"),
    ],
)
def test_a_call_without_a_known_key_is_401_and_leaves_no_row(
    app: Flask, acme: Town, uow: UnitOfWork, header: str, reason: str
) -> None:
    before = rows(uow)
    answer = Program(app, None).post("/events", EVENT, headers={"Authorization": header})
    problem(answer, 401, reason)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert rows(uow) == before


def test_a_key_without_the_scope_is_403_and_leaves_no_row(
    app: Flask, acme: Town, uow: UnitOfWork
) -> None:
    reader = program(app, uow, acme.workspace_id, "contacts:read")
    assert reader.get("/contacts").status_code == 200
    before = rows(uow)
    problem(reader.post("/events", EVENT), 403, "wrong_scope")
    assert rows(uow) == before


def test_a_signed_in_session_without_a_key_is_401_and_leaves_no_row(
    app: Flask, owner: Reader, uow: UnitOfWork
) -> None:
    before = rows(uow)
    answer = reply(owner.client.post("/api/v1/events", json=EVENT))
    problem(answer, 401, "no_key")
    assert rows(uow) == before


def test_a_cookie_beside_a_key_counts_for_nothing(
    app: Flask, owner: Reader, foreign: Program
) -> None:
    headers = {"Authorization": f"Bearer {foreign.key}", "Accept-Language": "de"}
    body = {"event_name": "go"}
    answer = reply(owner.client.post("/api/v1/events", json=body, headers=headers))
    assert problem(answer, 422)["errors"][0]["pointer"] == "/email"


def test_a_revoked_key_is_unknown_at_once(app: Flask, acme: Town, uow: UnitOfWork) -> None:
    with uow.begin() as session:
        row, secret = accounts.api_key(session, acme.workspace_id)
        key_id = row.id
    shop = Program(app, secret)
    assert shop.get("/contacts").status_code == 200
    with uow.begin() as session:
        found = session.get(type(row), key_id)
        assert found is not None
        found.revoked_at = accounts.AT
    problem(shop.get("/contacts"), 401, "unknown_api_key")


def test_the_use_of_a_key_is_noted_once_a_minute(
    shop: Program, uow: UnitOfWork, clock: FixedClock
) -> None:
    first = clock.now()
    assert shop.get("/contacts").status_code == 200
    assert used(uow) == first
    clock.advance(timedelta(seconds=30))
    assert shop.get("/contacts").status_code == 200
    assert used(uow) == first
    assert shop.get("/contacts", headers={}).status_code == 200
    clock.advance(timedelta(seconds=45))
    assert shop.get("/contacts").status_code == 200
    assert used(uow) == clock.now()


def test_a_key_has_so_many_calls_a_second_over_all_processes(
    house: House, acme: Town, uow: UnitOfWork, clock: FixedClock
) -> None:
    runtime = house.runtime
    few = Runtime(
        runtime.settings.model_copy(update={"api_rate": 7}),
        runtime.database,
        runtime.uow,
        runtime.secret_key,
    )
    clock.advance(timedelta(milliseconds=300))
    one, two = make_app(few), make_app(few)
    shop = program(one, uow, acme.workspace_id)
    same = Program(two, shop.key)
    neighbour = program(one, uow, acme.workspace_id)
    statuses = [each.get("/contacts").status_code for _ in range(5) for each in (shop, same)]
    assert statuses == [200] * 7 + [429] * 3
    answer = shop.get("/contacts")
    problem(answer, 429, "too_many_requests")
    assert answer.headers["Retry-After"] == "1"
    assert neighbour.get("/contacts").status_code == 200
    clock.advance(timedelta(seconds=1))
    assert shop.get("/contacts").status_code == 200


@pytest.mark.parametrize(
    "path", ["/nothing", "/contacts/a/b/c", "/automations/x/nothing", "/campaigns", "/segments"]
)
def test_an_unknown_address_is_a_problem_document_with_a_sentence(shop: Program, path: str) -> None:
    assert problem(shop.get(path), 404, "not_found")["detail"].endswith(".")


def test_a_wrong_method_names_the_right_ones(shop: Program) -> None:
    answer = shop.call("PUT", "/contacts", {})
    problem(answer, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(answer.headers["Allow"].split(", "))


def test_every_answer_bears_the_security_headers_and_is_not_kept(shop: Program) -> None:
    for answer in (shop.get("/contacts"), shop.get("/nothing"), shop.post("/contacts", [])):
        assert "default-src" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers


def rows(uow: UnitOfWork) -> object:
    """Return all rows but the counters of rates and the keys' last use."""
    with uow.read() as session:
        found = everything(session)
    return {name: each for name, each in found.items() if name not in {"rate_windows", "api_keys"}}


def used(uow: UnitOfWork) -> object:
    """Return when the one key of the test was last used."""
    with uow.read() as session:
        return session.scalars(select(ApiKey.last_used_at)).one()
