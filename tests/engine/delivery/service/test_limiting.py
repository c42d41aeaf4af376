"""A mail too many (decision A17): repeats, the daily limit, quiet hours; by the person's clock."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, select

from engine.delivery.models import FAILED, MARKETING, SERVICE, EmailSend
from engine.delivery.walk_lifecycle import OUTCOME_UNKNOWN
from tests.engine.delivery.service.desk import AT, Desk


@pytest.mark.parametrize(
    ("purpose", "allow_repeat", "second"),
    [
        (MARKETING, None, "already_received"),
        (MARKETING, False, "already_received"),
        (MARKETING, True, None),
        (SERVICE, None, None),
        (SERVICE, True, None),
        (SERVICE, False, "already_received"),
    ],
)
def test_the_same_template_again_within_a_day_is_one_too_many(
    desk: Desk, purpose: str, allow_repeat: bool | None, second: str | None
) -> None:
    given = {"purpose": purpose, "allow_repeat": allow_repeat}
    # In one batch, and in a later one.
    assert desk.ask(desk.mail(**given), desk.mail(**given)) == [None, second]
    later = AT + timedelta(hours=23, minutes=59)
    assert desk.ask(desk.mail(**given), at=later) == [second]
    other = desk.mail(**given, template_id=desk.other.row_id)
    assert desk.ask(other, at=later) == [None]
    assert desk.ask(desk.mail(**given), at=AT + timedelta(hours=24)) == [None]


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        ({}, "already_received"),
        ({"status": FAILED, "error_code": "SERVER_ERROR"}, None),
        ({"status": FAILED, "error_code": OUTCOME_UNKNOWN}, "already_received"),
        ({"kind": "test"}, None),
        ({"purpose": SERVICE}, "already_received"),
    ],
)
def test_only_what_may_have_arrived_counts(
    desk: Desk, columns: Mapping[str, Any], verdict: str | None
) -> None:
    desk.sent(**columns)
    assert desk.ask(desk.mail()) == [verdict]


def test_the_daily_limit_counts_marketing_of_the_persons_own_day(desk: Desk) -> None:
    # AT is 04:00 in New York, so their day began at 05:00 UTC.
    desk.allow(mails_per_day=2)
    for hours, columns in ((3, {}), (5, {}), (1, {"purpose": SERVICE}), (1, {"kind": "test"})):
        desk.sent(queued_at=AT - timedelta(hours=hours), template_id=None, **columns)
    free = {"allow_repeat": True}
    assert desk.ask(desk.mail(**free), desk.mail(**free), desk.mail(purpose=SERVICE)) == [
        None,
        "daily_limit",
        None,
    ]
    midnight = AT + timedelta(hours=20)
    assert desk.ask(desk.mail(**free), at=midnight - timedelta(seconds=1)) == ["daily_limit"]
    assert desk.ask(*(desk.mail(**free) for _ in range(3)), at=midnight) == [
        None,
        None,
        "daily_limit",
    ]


def test_without_a_zone_of_their_own_the_workspaces_day_counts(desk: Desk) -> None:
    desk.allow(mails_per_day=1, timezone="Asia/Tokyo")
    desk.change(timezone=None)
    # AT is 18:00 in Tokyo: 19 hours ago was yesterday there.
    desk.sent(queued_at=AT - timedelta(hours=19), template_id=None)
    assert desk.ask(desk.mail(), desk.mail(template_id=None)) == [None, "daily_limit"]


@pytest.mark.parametrize(
    ("hours", "until", "spans", "verdict"),
    [
        # 04:00 in New York.
        ("22:00", "06:00", "over midnight", "quiet_hours"),
        ("04:00", "05:00", "from the minute on", "quiet_hours"),
        ("03:00", "04:00", "until the minute", None),
        ("06:00", "22:00", "by day", None),
        ("04:00", "04:00", "no time at all", None),
        ("soon", "later", "nonsense", None),
    ],
)
def test_quiet_hours_are_the_persons_own(
    desk: Desk, hours: str, until: str, spans: str, verdict: str | None
) -> None:
    desk.allow(quiet_from=hours[:5], quiet_until=until)
    assert desk.ask(desk.mail(), desk.mail(purpose=SERVICE)) == [verdict, None], spans


def test_a_zone_nobody_knows_falls_back_to_the_workspaces(desk: Desk) -> None:
    desk.allow(quiet_from="18:00", quiet_until="18:01", timezone="Asia/Tokyo")
    desk.change(timezone="Mars/Olympus")
    assert desk.ask(desk.mail()) == ["quiet_hours"]
    desk.allow(timezone="Moon/Base")
    assert desk.ask(desk.mail()) == [None]


def test_racing_batches_never_pass_a_limit_together(desk: Desk) -> None:
    desk.allow(mails_per_day=3)
    start = Barrier(8)

    def ask(_number: int) -> list[str | None]:
        start.wait()
        free = {"allow_repeat": True, "template_id": desk.other.row_id}
        return desk.ask(desk.mail(), desk.mail(**free))

    with ThreadPoolExecutor(8) as threads:
        answers = [each for pair in threads.map(ask, range(8)) for each in pair]
    assert desk.count() == 3
    assert answers.count(None) == 3
    with desk.uow.read() as session:
        greeted = session.scalar(
            select(func.count())
            .select_from(EmailSend)
            .where(EmailSend.template_id == desk.template.row_id)
        )
    assert greeted == 1
