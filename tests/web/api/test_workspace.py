"""The workspace by API: what is sent changes, what is wrong is named, scopes hold."""

from typing import Any

import pytest
from sqlalchemy import select

from engine.core.audit import AuditEntry
from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, pointers, problem


def change(shop: Program, **sent: Any) -> Any:
    """Return the answer to a change."""
    return shop.call("PATCH", "/workspace", sent)


def test_only_what_is_sent_changes(shop: Program, uow: UnitOfWork) -> None:
    before = shop.get("/workspace").json
    assert (before["retention_days"], before["mails_per_day"], before["suspended_at"]) == (
        365, None, None,
    )  # fmt: skip
    quiet = {"quiet_from": "22:00", "quiet_until": "07:00", "mails_per_day": 2}
    answer = change(shop, **quiet)
    assert answer.status_code == 200
    assert answer.json == {**before, **quiet}
    assert change(shop, quiet_from=None, quiet_until=None).json == {**before, "mails_per_day": 2}
    assert shop.get("/workspace").json == {**before, "mails_per_day": 2}
    with uow.read() as session:
        actions = session.scalars(
            select(AuditEntry.action).where(AuditEntry.resource == "workspace")
        ).all()
    assert actions.count("workspace.updated") == 2


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ({"mails_per_day": 0}, ["/mails_per_day"]),
        ({"mails_per_day": "2"}, ["/mails_per_day"]),
        ({"quiet_from": "22:00"}, ["/quiet_until"]),
        ({"quiet_from": "22:00", "quiet_until": "22:00"}, ["/quiet_until"]),
        ({"quiet_from": "22h", "quiet_until": "07:00"}, ["/quiet_from"]),
        ({"quiet_from": "22:00\n", "quiet_until": "07:00"}, ["/quiet_from"]),
        ({"retention_days": 6}, ["/retention_days"]),
        ({"retention_days": None}, ["/retention_days"]),
        ({"retention_days": 3651}, ["/retention_days"]),
        ({"timezone": "Mars/Base"}, ["/timezone"]),
        ({"timezone": ""}, ["/timezone"]),
        ({"language": "fr"}, ["/language"]),
        ({"name": "Other"}, ["/name"]),
        ({"suspended_at": None}, ["/suspended_at"]),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_kept(
    shop: Program, sent: dict[str, Any], wanted: list[str]
) -> None:
    before = shop.get("/workspace").json
    assert pointers(problem(change(shop, **sent), 422)) == wanted
    assert shop.get("/workspace").json == before


def test_nothing_sent_changes_nothing(shop: Program) -> None:
    before = shop.get("/workspace").json
    assert change(shop).json == before
