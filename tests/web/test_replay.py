"""A request that had to give way to another transaction is answered anew, once and from scratch."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, Final, cast

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, program
from tests.web.picking import texts
from tests.web.support import Reader, Town, tree
from tests.web.workspace.test_views import SOUND, stored
from web import replay
from web.request import db

DEADLOCK: Final = {"sqlstate": "40P01"}
Plant = Callable[..., list[int]]


class Undone(Exception):
    """What a driver raises; it bears the codes of the database."""

    def __init__(self, codes: dict[str, Any]) -> None:
        super().__init__("undone")
        vars(self).update(codes)


@pytest.fixture
def plant() -> Iterator[Plant]:
    """Return what makes the next `times` commits of the web fail; it counts them in a list."""
    sessions = cast("type[Session]", db.session.session_factory)
    planted: list[Callable[[Session], None]] = []

    def begin(times: int = 1, codes: dict[str, Any] = DEADLOCK) -> list[int]:
        passed: list[int] = []

        def fail(session: Session) -> None:
            passed.append(len(passed))
            if len(passed) <= times:
                session.flush()
                raise OperationalError("COMMIT", None, Undone(codes))

        event.listen(sessions, "before_commit", fail, insert=True)
        planted.append(fail)
        return passed

    yield begin
    for fail in planted:
        event.remove(sessions, "before_commit", fail)


@pytest.fixture
def shop(app: Flask, uow: UnitOfWork, acme: Town) -> Program:
    return program(app, uow, acme.workspace_id)


@pytest.mark.parametrize(
    "codes", [DEADLOCK, {"sqlstate": "40001"}, {"sqlite_errorcode": 5}, {"sqlite_errorcode": 517}]
)
def test_a_form_that_had_to_give_way_is_saved_all_the_same(
    uow: UnitOfWork, acme: Town, owner: Reader, plant: Plant, codes: dict[str, Any]
) -> None:
    owner.token()
    passed = plant(codes=codes)
    with capture_logs() as logged:
        answer = owner.post("/workspace", SOUND)
    assert (answer.status_code, answer.location) == (303, "/workspace")
    assert len(passed) == 2
    assert stored(uow, acme).mails_per_day == 3
    events = [line["event"] for line in logged]
    assert events.count("request_repeated") == 1
    assert "request_failed" not in events


def test_what_is_said_afterwards_is_said_once(owner: Reader, plant: Plant) -> None:
    plant()
    owner.post("/workspace", SOUND)
    page = tree(owner.get("/workspace"))
    assert texts(page, "#said p") == ["The settings are saved."]


def test_a_sign_in_that_had_to_give_way_signs_in(app: Flask, acme: Town, plant: Plant) -> None:
    plant()
    reader = Reader(app)
    assert reader.sign_in(acme.people["owner"]).status_code == 303
    assert reader.get("/workspace").status_code == 200


def test_the_api_reads_the_same_body_again(shop: Program, plant: Plant) -> None:
    plant()
    made = shop.post("/contacts", {"email": "ada@people.example", "first_name": "Ada"})
    assert (made.status_code, made.json["first_name"]) == (201, "Ada")
    assert len(shop.get("/contacts").json["items"]) == 1


def test_an_idempotency_key_stands_for_the_second_try(shop: Program, plant: Plant) -> None:
    plant()
    body, headers = {"email": "ada@people.example"}, {"Idempotency-Key": "one"}
    first = shop.call("POST", "/contacts", body, headers=headers)
    second = shop.call("POST", "/contacts", body, headers=headers)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json["id"] == second.json["id"]


def test_nobody_tries_a_third_time(owner: Reader, plant: Plant) -> None:
    owner.token()
    passed = plant(times=9)
    assert owner.post("/workspace", SOUND).status_code == 500
    assert len(passed) == 2


@pytest.mark.parametrize(
    "codes", [{}, {"sqlstate": "57P01"}, {"sqlstate": None}, {"sqlite_errorcode": 6}]
)
def test_other_faults_of_a_database_are_no_reason_to_try_again(
    owner: Reader, plant: Plant, codes: dict[str, Any]
) -> None:
    owner.token()
    passed = plant(codes=codes)
    assert owner.post("/workspace", SOUND).status_code == 500
    assert len(passed) == 1


def test_a_body_too_long_to_be_kept_is_not_tried_again(
    owner: Reader, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.token()
    monkeypatch.setattr(replay, "_LONGEST", 10)
    passed = plant()
    assert owner.post("/workspace", SOUND).status_code == 500
    assert len(passed) == 1


@pytest.mark.parametrize("read", [0, 3, 11])
def test_a_body_read_halfway_is_read_again_as_a_whole(read: int) -> None:
    kept = replay.KeptBody(BytesIO(b"hello world"))
    assert kept.read(read) == b"hello world"[:read]
    again = kept.again()
    pieces = [again.read(4) for _ in range(6)]
    assert b"".join(pieces) == b"hello world"
    assert replay.KeptBody(BytesIO(b"hello world")).again().read() == b"hello world"
