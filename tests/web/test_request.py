"""When a request commits and when it rolls back; its id; what no database stores."""

from collections.abc import Callable

import pytest
from flask import Flask, make_response
from sqlalchemy import select, text

from engine.accounts.models import Workspace
from engine.core.clock import FixedClock
from engine.core.effects import emit
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.effects import DispatchSends
from tests.factories import accounts
from tests.fakes.dispatch import RecordingDispatch
from tests.web.support import Reader
from web import auth
from web.request import keep, now, session

View = Callable[[], object]


def _write(name: str) -> None:
    accounts.workspace(session(), name)
    emit(session(), DispatchSends(send_ids=(1,), pool="transactional"))


def _succeed() -> object:
    _write("succeeded")
    return "", 201


def _refuse() -> object:
    _write("refused")
    return "", 409


def _refuse_and_keep() -> object:
    keep()
    return _refuse()


def _break() -> object:
    _write("broken")
    raise RuntimeError("planted")


def _break_at_commit() -> object:
    _write("first")
    session().add(Workspace(public_id=None, name="no id", created_at=now()))
    return "", 201


@pytest.mark.parametrize(
    ("view", "status", "kept"),
    [
        (_succeed, 201, True),
        (_refuse, 409, False),
        (_refuse_and_keep, 409, True),
        (_break, 500, False),
        (_break_at_commit, 500, False),
    ],
)
def test_a_write_is_kept_when_its_answer_is_a_success(
    app: Flask, uow: UnitOfWork, dispatch: RecordingDispatch, view: View, status: int, kept: bool
) -> None:
    reader = _with(app, view)
    assert reader.post("/probe").status_code == status
    with uow.read() as reading:
        assert bool(reading.scalars(select(Workspace)).all()) is kept
    assert bool(dispatch.effects) is kept


def test_a_page_that_is_read_is_never_committed(app: Flask, uow: UnitOfWork) -> None:
    reader = _with(app, _succeed)
    assert reader.get("/probe").status_code == 201
    with uow.read() as reading:
        assert reading.scalars(select(Workspace)).all() == []


def test_a_writing_request_begins_as_a_writer(app: Flask, uow: UnitOfWork) -> None:
    def view() -> object:
        # A transaction that began deferred would fail here, where another writer came between.
        with uow.read() as other:
            other.execute(text("SELECT 1"))
        _write("writer")
        return ""

    assert _with(app, view).post("/probe").status_code == 200


def test_one_request_bears_one_time(app: Flask, clock: FixedClock) -> None:
    def view() -> object:
        first = now()
        clock.set(clock.now().replace(year=2030))
        return {"same": now() == first}

    assert _with(app, view).get("/probe").json == {"same": True}


def test_every_answer_bears_an_id_of_its_own(stranger: Reader) -> None:
    ids = [stranger.get(path).headers["X-Request-Id"] for path in ("/", "/none", "/health/live")]
    assert len({*ids}) == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [("/audit%00", 404), ("/?next=%00", 400), ("/?%00=1", 400), ("/api/v1/contacts?q=%00", 400)],
)
def test_nul_in_an_address_is_refused(stranger: Reader, path: str, status: int) -> None:
    assert stranger.get(path).status_code == status


@pytest.mark.parametrize("value", [b"a\x00b", b"%00", b"\xff\xfe", b"%ff%fe"])
def test_a_form_that_is_no_text_is_refused_and_breaks_nothing(
    stranger: Reader, value: bytes
) -> None:
    body = b"csrf_token=" + stranger.token().encode() + b"&password=x&email=" + value
    answer = stranger.client.post("/", data=body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code in {400, 422}


def test_a_form_that_is_too_large_is_refused_with_a_page(stranger: Reader) -> None:
    answer = stranger.post("/", {"email": "e" * 2_000_000, "password": "x"})
    assert answer.status_code == 413
    assert "too large" in answer.text


def _with(app: Flask, view: View) -> Reader:
    app.add_url_rule(
        "/probe",
        "probe",
        auth.open_to_strangers(lambda: make_response(view())),
        methods=["GET", "POST"],
    )
    return Reader(app)
