"""The random split: shares by a stable hash, an exit for each, checked before activation."""

from collections import Counter
from typing import Any

import pytest

from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.automations.kinds.steps.random_split import RandomSplitConfig, way
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.books import assert_books
from tests.factories.world import World

THREE = {"a": 50, "b": 30, "c": 20}


def split(key: str = "split", **config: Any) -> dict[str, Any]:
    return {"key": key, "type": "random_split", "config": config}


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, people=12)


def counted(config: RandomSplitConfig, step: str = "split") -> Counter[str]:
    return Counter(way(config, "A1", step, f"person-{number}") for number in range(10_000))


def test_ten_thousand_people_fall_into_the_shares_within_a_percent() -> None:
    found = counted(RandomSplitConfig(shares=THREE))
    assert {name: round(found[name] / 100) for name in THREE} == pytest.approx(THREE, abs=1)


def test_a_person_goes_the_same_way_every_time_and_not_the_same_at_every_split() -> None:
    config = RandomSplitConfig()
    first = [way(config, "A1", "split", f"p{n}") for n in range(400)]
    assert first == [way(config, "A1", "split", f"p{n}") for n in range(400)]
    other = [way(config, "A1", "split-2", f"p{n}") for n in range(400)]
    elsewhere = [way(config, "A2", "split", f"p{n}") for n in range(400)]
    for them in (other, elsewhere):
        same = sum(a == b for a, b in zip(first, them, strict=True))
        assert 140 < same < 260


def test_people_walk_the_way_that_their_number_falls_to(world: World) -> None:
    automation = world.live(split(a="left", b="right"), make.end("left"), make.end("right"))
    world.fire()
    world.walker.sweep()
    with world.uow.read() as session:
        ways = {}
        for run, person in zip(make.runs(session, automation), world.people, strict=True):
            first, *others = make.visits(session, run)
            [last] = [visit.step_key for visit in others if visit.status == "completed"]
            branch = way(RandomSplitConfig(), automation.public_id, "split", person.public_id)
            assert first.result == {"branch": branch, "share": 50}
            ways[last] = branch
        assert_books(session)
    assert ways == {"left": "a", "right": "b"}


@pytest.mark.parametrize(
    ("shares", "pointer"),
    [
        ({"a": 100}, "/steps/0/config/shares/a"),
        ({"a": 0, "b": 100}, "/steps/0/config/shares/a"),
        ({"a": 50, "z": 50}, "/steps/0/config/shares/z"),
        ({"a": 50.5, "b": 49.5}, "/steps/0/config/shares/a"),
        ({"a": 99}, "/steps/0/config/shares"),
        ("50 of them", "/steps/0/config/shares"),
    ],
)
def test_what_is_no_share_is_refused_on_save(shares: object, pointer: str) -> None:
    refused = read_document(make.document(split(shares=shares)))
    assert isinstance(refused, Refused)
    assert refused.problems[0].pointer.startswith(pointer)


def test_check_finds_shares_that_make_no_whole(world: World) -> None:
    document = read_document(make.document(split(), split("other", shares={"a": 50, "b": 40})))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
    assert found == [Problem("/steps/1/config/shares", "shares_not_whole", {"total": 90})]


def test_exits_are_as_many_as_shares() -> None:
    document = read_document(make.document(split(shares=THREE, c="end")))
    assert isinstance(document, Document)
    assert dict(document.graph.steps[0].exits) == {"a": 1, "b": 1, "c": 1}
    assert dict(document.graph.steps[0].kind.branches(document.graph.steps[0].config)) == {
        "a": None,
        "b": None,
        "c": "end",
    }
