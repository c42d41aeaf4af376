"""Only here, because SQLite has no locks on rows: a request that a deadlock undid is answered."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from sqlalchemy import event, select, text
from structlog.testing import capture_logs

from engine.automations.models import Automation, AutomationRun
from engine.house import House
from tests.factories import accounts, audience
from tests.factories import automations as make
from tests.support.house import START
from tests.support.waiting import wait_for
from tests.web.api.support import program
from web.factory import make_app

WAITING: Final = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def _patient(connection: Any, _entry: object) -> None:
    """Look for deadlocks late enough for the rival to have come round."""
    connection.execute("SET deadlock_timeout = '3s'")
    connection.commit()


def test_a_request_that_a_deadlock_undid_is_answered_anew(house: House) -> None:
    uow = house.runtime.uow
    with uow.begin() as session:
        workspace = accounts.workspace(session)
        row = make.live(session, workspace.id, make.document(make.delay("wait")), START)
        make.fire(session, workspace.id, [audience.contact(session, workspace.id)], START)
    shop = program(make_app(house.runtime), uow, workspace.id)
    event.listen(uow.database.engine, "connect", _patient)
    uow.database.dispose()

    def waits() -> bool:
        with uow.read() as session:
            return bool(session.scalar(WAITING))

    wish = {"to": "paused", "cancel_inside": True}
    with ThreadPoolExecutor(1) as pool, capture_logs() as logged:
        with uow.begin() as rival:
            # Whoever waits first is undone: the rival looks for deadlocks even later.
            rival.execute(text("SET LOCAL deadlock_timeout = '60s'"))
            rival.execute(select(AutomationRun.id).with_for_update())
            answer = pool.submit(shop.post, f"/automations/{row.public_id}/transitions", wish)
            wait_for(waits, "the request to wait for the rival")
            rival.execute(select(Automation.id).with_for_update())
        status = answer.result(60).status_code
    assert [line["event"] for line in logged].count("request_repeated") == 1
    assert status == 200
    with uow.read() as session:
        assert session.scalars(select(AutomationRun.status)).all() == ["cancelled"]
        assert session.scalars(select(Automation.status)).all() == ["paused"]
