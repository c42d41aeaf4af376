"""The audit log: who did what in words, filters in the address, pages by cursor."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.core import audit
from engine.core.audit import Actor, AuditEntry, Subject
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import accounts
from tests.support.house import START
from tests.web.samples import furnish
from tests.web.support import Reader, Town, tree
from web.audit.messages import done


def _write(uow: UnitOfWork, town: Town, count: int = 1, actor: str = "system:test") -> None:
    with uow.begin() as session:
        for number in range(count):
            subject = Subject(town.workspace_id, "thing", f"thing-{number}-")
            audit.record(session, subject, "thing.made", Actor(actor), START + number * _HOUR)


_HOUR = timedelta(hours=1)


def test_people_keys_and_the_system_are_named(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    with uow.begin() as session:
        key, _secret = accounts.api_key(session, acme.workspace_id, name="Shop")
        actor = f"key:{key.public_id}"
    _write(uow, acme, actor=actor)
    _write(uow, acme, actor=f"user:{acme.ids['admin']}")
    _write(uow, acme, actor="system:automation-breaker")
    _write(uow, acme, actor="user:gone")
    text = tree(owner.get("/audit")).text_content()
    for words in (
        "API key Shop",
        acme.people["admin"],
        "The system (automation-breaker)",
        "Somebody who was removed",
    ):
        assert words in text


def test_creating_a_key_is_written_down_in_words(owner: Reader, acme: Town) -> None:
    owner.post("/api-keys", {"name": "Shop", "scopes": ["full"]})
    page = tree(owner.get("/audit"))
    (row,) = page.xpath("//tbody/tr")
    for words in ("Created an API key", "api_key.created", "Shop", acme.people["owner"]):
        assert words in row.text_content()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("action=thing", 3),
        ("action=thing.made", 3),
        ("action=made", 0),
        ("action=%25", 0),
        ("actor=system:test", 3),
        ("actor=owner", 0),
        ("since=2026-03-02", 3),
        ("since=2026-03-03", 0),
        ("until=2026-03-02", 3),
        ("until=2026-03-01", 0),
        ("since=yesterday", 3),
        ("since=0001-01-01&until=9999-12-31", 3),
        ("cursor=nonsense", 3),
    ],
)
def test_filters_stand_in_the_address(
    uow: UnitOfWork, acme: Town, owner: Reader, query: str, found: int
) -> None:
    _write(uow, acme, 3)
    assert len(tree(owner.get(f"/audit?{query}")).xpath("//tbody/tr")) == found


def test_a_person_is_found_by_part_of_the_address(
    uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    _write(uow, acme, 2)
    _write(uow, acme, 1, actor=f"user:{acme.ids['support']}")
    rows = tree(owner.get("/audit?actor=SUPPORT")).xpath("//tbody/tr")
    assert len(rows) == 1


def test_a_long_log_goes_on_by_cursor_without_gap(
    uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    _write(uow, acme, 101)
    path, seen = "/audit", []
    while path:
        page = tree(owner.get(path))
        seen += page.xpath("//tbody/tr/td[3]//text()[contains(., 'thing-')]")
        path = next(iter(page.xpath("//a[@rel='next']/@href")), "")
    assert seen == [f"thing-{number}-" for number in reversed(range(101))]


def test_entries_of_another_workspace_are_not_shown(
    uow: UnitOfWork, other: Town, owner: Reader
) -> None:
    _write(uow, other, 3)
    assert tree(owner.get("/audit")).xpath("//tbody/tr") == []


def test_everything_that_was_done_has_words(
    house: House, clock: FixedClock, uow: UnitOfWork, acme: Town
) -> None:
    furnish(house, clock, acme.workspace_id)
    with uow.read() as session:
        actions = set(session.scalars(select(AuditEntry.action)))
    assert len(actions) > 3
    assert [action for action in sorted(actions) if done(action) == action] == []
