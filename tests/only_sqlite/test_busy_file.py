"""Only here, because PostgreSQL lets several write: a request that found the file busy."""

import sqlite3
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
    shop = program(make_app(house.runtime), uow, workspace.id)
    event.listen(uow.database.engine, "connect", _impatient)
    uow.database.dispose()
    # As another process would have it: writers of one process take turns before they ask.
    rival = sqlite3.connect(str(uow.database.engine.url.database), isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")

    def free(_logger: object, _method: str, line: Any) -> Any:
        if line["event"] == "request_repeated":
            rival.execute("ROLLBACK")
        return line

    with capture_logs([free]) as logged:
        made = shop.post("/contacts", {"email": "ada@people.example"})
    rival.close()
    assert [line["event"] for line in logged].count("request_repeated") == 1
    assert made.status_code == 201
