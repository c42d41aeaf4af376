"""Only here, because PostgreSQL lets several write: a request that found the file busy."""

import threading
from typing import Any

from sqlalchemy import event
from structlog.testing import capture_logs

from engine.house import House
from tests.factories import accounts
from tests.web.api.support import program
from web.factory import make_app


def _impatient(connection: Any, _entry: object) -> None:
    connection.execute("PRAGMA busy_timeout = 50")


def test_a_request_that_found_the_file_busy_is_answered_once_it_is_free(house: House) -> None:
    uow = house.runtime.uow
    with uow.begin() as session:
        workspace = accounts.workspace(session)
    app = make_app(house.runtime)
    shop = program(app, uow, workspace.id)
    event.listen(uow.database.engine, "connect", _impatient)
    uow.database.dispose()
    writing, over = threading.Event(), threading.Event()

    def write() -> None:
        with uow.begin():
            writing.set()
            over.wait(30)

    rival = threading.Thread(target=write)
    rival.start()
    assert writing.wait(30)

    def free(_logger: object, _method: str, line: Any) -> Any:
        if line["event"] == "request_repeated":
            over.set()
            rival.join(30)
        return line

    with capture_logs([free]) as logged:
        made = shop.post("/contacts", {"email": "ada@people.example"})
    over.set()
    assert [line["event"] for line in logged].count("request_repeated") == 1
    assert made.status_code == 201
