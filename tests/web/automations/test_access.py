"""Who sees the pages of automations, and how much they ask of the database."""

import pytest
from flask import Flask
from sqlalchemy import select

from engine.automations import service
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import pick, texts
from tests.web.support import Reader, Town, tree

BUTTONS = ("activate", "pause", "resume")


@pytest.fixture
def waiting(uow: UnitOfWork, acme: Town, clock: FixedClock) -> str:
    """Return an active automation."""
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        return making.live(session, acme.workspace_id, raw, clock.now()).public_id


def _draft(uow: UnitOfWork, town: Town, clock: FixedClock, *steps: dict[str, object]) -> str:
    with uow.begin() as session:
        raw = making.document(*steps, name="Thanks")
        saved = service.create(session, town.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
        return saved.public_id


def _status(uow: UnitOfWork, public_id: str) -> str:
    with uow.read() as session:
        return str(
            session.scalar(select(Automation.status).where(Automation.public_id == public_id))
        )


@pytest.mark.parametrize("role", ["editor", "support"])
def test_who_may_not_publish_sees_the_plan_but_no_button(
    app: Flask, acme: Town, uow: UnitOfWork, waiting: str, role: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    page = tree(reader.get(f"/automations/{waiting}"))
    assert pick(page, ".plan")
    for act in BUTTONS:
        assert not pick(page, f"[data-dialog=ask-{act}]")
        assert reader.post(f"/automations/{waiting}/{act}").status_code == 403
    assert _status(uow, waiting) == "active"


def test_who_may_not_edit_reads_the_same_numbers(
    app: Flask, acme: Town, owner: Reader, scene: Scene
) -> None:
    support = Reader(app)
    support.sign_in(acme.people["support"])
    for name in ("active", "paused", "maze"):
        page = f"/automations/{scene.automations[name]}"
        mine, theirs = tree(owner.get(page)), tree(support.get(page))
        for numbers in (".plan .in", ".figures dd", ".funnel li"):
            assert texts(theirs, numbers) == texts(mine, numbers), (name, numbers)
        assert texts(theirs, ".plan .in")
        assert not pick(theirs, "main form[method=post]")


def test_a_stranger_of_another_workspace_finds_nothing(
    app: Flask, other: Town, uow: UnitOfWork, waiting: str
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    assert reader.get(f"/automations/{waiting}").status_code == 404
    for act in BUTTONS:
        assert reader.post(f"/automations/{waiting}/{act}").status_code == 404
    assert "Welcome" not in reader.get("/automations").text
    assert _status(uow, waiting) == "active"


def test_the_list_asks_no_more_of_the_database_for_more_automations(
    owner: Reader, house: House, acme: Town, uow: UnitOfWork, clock: FixedClock
) -> None:
    counts: list[int] = []
    for _round in range(2):
        _draft(uow, acme, clock, making.delay("wait"))
        if counts:
            for _more in range(20):
                _draft(uow, acme, clock, making.delay("wait"))
        with counting(house.runtime.database.engine) as asked:
            assert owner.get("/automations").status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 10


def test_the_plan_asks_no_more_of_the_database_for_more_steps(
    owner: Reader, house: House, acme: Town, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.begin() as session:
        mails.sender(session, acme.workspace_id)
        template = mails.template(session, acme.workspace_id).public_id
    counts = []
    for size in (2, 60):
        steps = [making.email(f"mail{number}", template) for number in range(size)]
        draft = _draft(uow, acme, clock, *steps)
        with counting(house.runtime.database.engine) as asked:
            assert owner.get(f"/automations/{draft}").status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 20


def test_no_page_counts_runs(owner: Reader, house: House, waiting: str) -> None:
    with counting(house.runtime.database.engine) as asked:
        assert owner.get("/automations").status_code == 200
        # The dialog alone reads runs: who becomes due, of the first ten thousand inside.
        assert owner.get(f"/automations/{waiting}").status_code == 200
    counted = [
        statement
        for statement in asked.statements
        if "count(" in statement.lower()
        and "FROM automation_runs" in statement
        # The number beside "Needs attention" counts causes, of a bounded number of runs.
        and "attention_at" not in statement
    ]
    assert all("LIMIT" in statement for statement in counted)
    assert len(counted) == 1
