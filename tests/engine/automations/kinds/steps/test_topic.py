"""The topic step: subscribe and unsubscribe, double opt-in as by every other door."""

from typing import Any

import pytest

from engine.audience import queries
from engine.audience import service as people
from engine.audience.queries import TopicRow
from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.world import World


def move(topic_id: str | None, action: str = "subscribe") -> dict[str, Any]:
    config = {"topic_id": topic_id, "action": action}
    return {"key": "move", "type": "topic", "config": config}


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=2)


def topic(world: World, *, require_double_opt_in: bool = False) -> TopicRow:
    with world.uow.begin() as session:
        return audience.topic(
            session, world.workspace_id, require_double_opt_in=require_double_opt_in
        )


def results(world: World, automation: Automation) -> list[Any]:
    with world.uow.read() as session:
        runs = make.runs(session, automation)
        return [make.visits(session, run)[0].result for run in runs]


@pytest.mark.parametrize(
    ("double", "outcome", "events"), [(False, "subscribed", 2), (True, "pending_doi", 0)]
)
def test_people_join_and_leave_and_the_result_says_how(
    world: World, double: bool, outcome: str, events: int
) -> None:
    news = topic(world, require_double_opt_in=double)
    with world.uow.begin() as session:
        trigger = {"type": "topic_subscribed", "config": {"topic_id": news.public_id}}
        raw = make.document(make.end("seen"), trigger=trigger)
        watching = make.live(session, world.workspace_id, raw, world.clock.now())
    told = [
        results(world, world.walk_once(move(news.public_id, action)))
        for action in ("unsubscribe", "subscribe", "subscribe", "unsubscribe")
    ]
    assert told == [
        [{"outcome": "not_member"}] * 2,
        [{"outcome": outcome}] * 2,
        [{"outcome": "already_member"}] * 2,
        [{"outcome": "unsubscribed"}] * 2,
    ]
    with world.uow.read() as session:
        assert queries.page_members(session, world.workspace_id, news.public_id)[0] == []
        # Who still owes a confirmation has not subscribed (facts 1.3).
        assert len(make.runs(session, watching)) == events


def test_a_pending_member_is_pending_also_by_a_step(world: World) -> None:
    news = topic(world, require_double_opt_in=True)
    world.walk_once(move(news.public_id))
    with world.uow.read() as session:
        members, _after = queries.page_members(session, world.workspace_id, news.public_id)
    assert [(member.pending, member.source) for member in members] == [(True, "automation")] * 2


def test_a_topic_deleted_meanwhile_fails_the_step(world: World) -> None:
    news = topic(world)
    automation = world.live(move(news.public_id))
    with world.uow.begin() as session:
        at = world.clock.now()
        assert (
            people.delete_topic(session, world.workspace_id, news.public_id, make.ACTOR, at) is None
        )
    world.fire()
    world.walker.sweep()
    [visit] = world.visits(automation)
    assert visit.status == "executing"
    assert [each["code"] for each in visit.failures or ()] == ["TOPIC_NOT_FOUND"]


def test_check_finds_a_missing_topic_and_names_the_others(world: World) -> None:
    news = topic(world)
    steps = [
        {**move(topic_id), "key": key}
        for key, topic_id in {"a": news.public_id, "b": None, "c": "gone"}.items()
    ]
    document = read_document(make.document(*steps))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
        names = checking.enrichment(session, world.workspace_id, document)
    assert found == [
        Problem("/steps/1/config/topic_id", "topic_missing"),
        Problem("/steps/2/config/topic_id", "topic_not_found"),
    ]
    assert names == {"a": {"topic_name": "News"}}


def test_an_unknown_action_is_refused_on_save() -> None:
    refused = read_document(make.document(move("x", "toggle")))
    assert isinstance(refused, Refused)
    assert [problem.pointer for problem in refused.problems] == ["/steps/0/config/action"]
