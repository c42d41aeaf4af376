"""The first page: whether a worker is alive, and ways to every area."""

from datetime import timedelta

import pytest

from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.scenes import Scene
from tests.web.support import Reader, Town, links, tree

MISSING = "No worker is running"


def test_without_a_worker_every_page_says_so(owner: Reader) -> None:
    for path in ("/", "/audit"):
        assert MISSING in tree(owner.get(path)).text_content()


@pytest.mark.parametrize(("silent", "missing"), [(0, False), (60, False), (61, True)])
def test_a_worker_counts_as_gone_after_a_minute_of_silence(
    uow: UnitOfWork, owner: Reader, clock: FixedClock, silent: int, missing: bool
) -> None:
    with uow.begin() as session:
        ticks.beat(session, "worker", "one", clock.now())
        ticks.beat(session, "timetable", "one-timetable", clock.now())
    clock.advance(timedelta(seconds=silent))
    page = tree(owner.get("/"))
    assert (MISSING in page.text_content()) is missing
    assert ("Worker seen" in page.text_content()) is not missing


def test_a_live_timetable_is_no_worker(uow: UnitOfWork, owner: Reader, clock: FixedClock) -> None:
    with uow.begin() as session:
        ticks.beat(session, "timetable", "one", clock.now())
    assert MISSING in tree(owner.get("/")).text_content()


def test_workers_without_a_timetable_are_told_apart_on_every_page(
    uow: UnitOfWork, owner: Reader, clock: FixedClock
) -> None:
    with uow.begin() as session:
        ticks.beat(session, "timetable", "one", clock.now())
        clock.advance(timedelta(seconds=61))
        ticks.beat(session, "worker", "mails-only", clock.now())
    for path in ("/", "/audit", "/automations"):
        said = tree(owner.get(path)).text_content()
        assert "none that looks for what has become due" in said, path
        assert MISSING not in said


def test_the_first_page_links_to_every_area(owner: Reader) -> None:
    areas = {"/automations", "/runs", "/people", "/sends", "/audit", "/api-keys"}
    assert areas <= set(links("/", owner.get("/")))


def test_the_first_page_offers_a_key_until_there_is_one(
    uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    offer = "//main//a[@href='/api-keys']"
    assert tree(owner.get("/")).xpath(offer)
    with uow.begin() as session:
        accounts.api_key(session, acme.workspace_id)
    assert not tree(owner.get("/")).xpath(offer)


def test_the_example_names_the_address_of_this_installation(owner: Reader) -> None:
    assert "curl http://127.0.0.1:8000/api/v1/events" in tree(owner.get("/")).text_content()


def test_where_a_person_stands_is_told_without_quotes_in_quotes(
    owner: Reader, scene: Scene
) -> None:
    told = tree(owner.get("/")).text_content()
    assert "stands at: Wait 3 days" in told
    assert "““" not in told
    assert "””" not in told
