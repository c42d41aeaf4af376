"""The step that changes the person: what it asks for, what check finds, what the run keeps."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.world import World


def change(key: str = "set", **changes: Any) -> dict[str, Any]:
    return {"key": key, "type": "update_contact", "config": {"changes": changes}}


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    world = World(uow, clock, people=2)
    with uow.begin() as session:
        for key, kind in {"plan": "text", "seats": "number", "vip": "boolean"}.items():
            audience.custom_property(session, world.workspace_id, key, kind)
    return world


def test_a_visit_changes_the_person_and_keeps_what_really_changed(world: World) -> None:
    first = world.walk_once(
        change(first_name="Ada", language="de", plan="pro", seats="5", vip=True)
    )
    [visit] = world.visits(first)
    assert visit.status == "completed"
    assert visit.result == {
        "changes": [  # the first name was Ada already
            {"key": "language", "before": None, "after": "de"},
            {"key": "plan", "before": None, "after": "pro"},
            {"key": "seats", "before": None, "after": 5},
            {"key": "vip", "before": None, "after": True},
        ]
    }
    second = world.walk_once(change(language=None, plan=None, seats=6))
    assert world.visits(second)[0].result == {
        "changes": [
            {"key": "language", "before": "de", "after": None},
            {"key": "plan", "before": "pro", "after": None},
            {"key": "seats", "before": 5, "after": 6},
        ]
    }
    with world.uow.read() as session:
        for person in world.people:
            now = queries.get_contact(session, world.workspace_id, person.public_id)
            assert now is not None
            assert (now.first_name, now.language) == ("Ada", None)
            assert now.properties == {"seats": 6, "vip": True}


def test_a_change_starts_what_watches_the_property_and_an_equal_value_starts_nothing(
    world: World,
) -> None:
    with world.uow.begin() as session:
        watch = {"type": "contact_updated", "config": {"property_key": "plan"}}
        raw = make.document(make.end("seen"), trigger=watch)
        watching = make.live(session, world.workspace_id, raw, world.clock.now())
    for plan, runs in (("pro", 2), ("pro", 2), ("basic", 4)):
        world.walk_once(change(plan=plan))
        with world.uow.read() as session:
            assert len(make.runs(session, watching)) == runs
    with world.uow.read() as session:
        updated = session.scalars(select(Event).where(Event.kind == "contact_updated")).all()
    assert {event.source for event in updated} == {"automation"}


@pytest.mark.parametrize("code", ["INVALID_VALUE", "PROPERTY_NOT_FOUND"])
def test_a_property_that_went_or_changed_its_type_fails_the_step_and_changes_nothing(
    world: World, code: str
) -> None:
    automation = world.live(change(first_name="Grace", seats=1))
    with world.uow.begin() as session:
        _drop(session, world.workspace_id, "seats", world.clock.now())
        if code == "INVALID_VALUE":  # it came back as another kind of thing
            audience.custom_property(session, world.workspace_id, "seats", "instant")
    world.fire()
    world.walker.sweep()
    [visit] = world.visits(automation)
    assert visit.status == "executing"
    assert [each["code"] for each in visit.failures or ()] == [code]
    with world.uow.read() as session:
        now = queries.get_contact(session, world.workspace_id, world.people[0].public_id)
        assert now is not None
        assert now.first_name == "Ada"


def _drop(session: Session, workspace_id: int, key: str, at: datetime) -> None:
    rows, _after = queries.list_properties(session, workspace_id)
    [row] = [row for row in rows if row.key == key]
    gone = service.delete_property(session, workspace_id, row.public_id, make.ACTOR, at)
    assert gone is None


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"email": "a@people.example"}, "/email", "fixed_key"),
        ({"external_id": "7"}, "/external_id", "fixed_key"),
        ({"plan": ["a"]}, "/plan", "not_a_primitive"),
        ({"a/b~": {}}, "/a~1b~0", "not_a_primitive"),
        ({"language": 7}, "/language", "not_a_text"),
        ({"plan": "x" * 10_001}, "/plan", "value_too_long"),
        ({"plan": "\x00"}, "/plan", "bad_character"),
        ({f"k{n}": n for n in range(51)}, "", "too_many_changes"),
    ],
)
def test_structure_is_judged_on_save(changes: dict[str, Any], pointer: str, code: str) -> None:
    refused = read_document(make.document(change(**changes)))
    assert isinstance(refused, Refused)
    found = [(problem.pointer, problem.code) for problem in refused.problems]
    assert found == [(f"/steps/0/config/changes{pointer}", code)]


@pytest.mark.parametrize("changes", [None, [], "plan"])
def test_changes_are_an_object(changes: object) -> None:
    step = {"key": "set", "type": "update_contact", "config": {"changes": changes}}
    refused = read_document(make.document(step))
    assert isinstance(refused, Refused)
    assert [problem.pointer for problem in refused.problems] == ["/steps/0/config/changes"]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, [Problem("", "changes_missing")]),
        ({"plan": "pro", "seats": " 7 ", "vip": "true", "timezone": None}, []),
        ({"gone": 1}, [Problem("/gone", "property_not_found", {"name": "gone"})]),
        (
            {"seats": "many", "vip": 1, "timezone": "Berlin"},
            [
                Problem("/timezone", "value_does_not_fit", {"key": "timezone", "value": "Berlin"}),
                Problem("/seats", "value_does_not_fit", {"key": "seats", "value": "many"}),
                Problem("/vip", "value_does_not_fit", {"key": "vip", "value": "1"}),
            ],
        ),
    ],
)
def test_check_finds_what_would_fail_for_certain(
    world: World, changes: dict[str, Any], problems: list[Problem]
) -> None:
    document = read_document(make.document(change("fine", plan="pro"), change(**changes)))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
    where = "/steps/1/config/changes"
    assert found == [Problem(f"{where}{each.pointer}", each.code, each.params) for each in problems]


def stamp(*keys: str, **changes: Any) -> dict[str, Any]:
    config = {"changes": changes, "stamps": list(keys)}
    return {"key": "stamp", "type": "update_contact", "config": config}


def test_tim_06_now_is_stored_once_in_utc_wherever_the_person_is(world: World) -> None:
    with world.uow.begin() as session:
        audience.custom_property(session, world.workspace_id, "seen_at", "instant")
    world.walk_once(change(timezone="Europe/Berlin"))
    world.clock.set(datetime(2026, 7, 1, 12, tzinfo=UTC))
    automation = world.walk_once(stamp("seen_at", plan="pro"))
    noon = "2026-07-01T12:00:00.000Z"
    assert world.visits(automation)[0].result == {
        "changes": [
            {"key": "plan", "before": None, "after": "pro"},
            {"key": "seen_at", "before": None, "after": noon},
        ]
    }
    with world.uow.read() as session:
        for person in world.people:
            now = queries.get_contact(session, world.workspace_id, person.public_id)
            assert now is not None
            assert now.properties == {"plan": "pro", "seen_at": noon}


@pytest.mark.parametrize(
    ("keys", "changes", "pointer", "code"),
    [
        (["language"], {}, "stamps/0", "no_stamp"),
        (["email"], {}, "stamps/0", "no_stamp"),
        (["seen\x00"], {}, "stamps/0", "bad_character"),
        (["a", "plan"], {"plan": "pro"}, "stamps/1", "set_twice"),
        ([f"k{n}" for n in range(50)], {"plan": "pro"}, "changes", "too_many_changes"),
    ],
)
def test_a_stamp_that_no_property_bears_is_refused_on_save(
    keys: list[str], changes: dict[str, Any], pointer: str, code: str
) -> None:
    refused = read_document(make.document(stamp(*keys, **changes)))
    assert isinstance(refused, Refused)
    found = [(problem.pointer, problem.code) for problem in refused.problems]
    assert found == [(f"/steps/0/config/{pointer}", code)]


def test_check_finds_stamps_without_a_date_to_set(world: World) -> None:
    with world.uow.begin() as session:
        audience.custom_property(session, world.workspace_id, "seen_at", "instant")
    document = read_document(make.document(stamp("seen_at", "gone", "plan")))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
    assert found == [
        Problem("/steps/0/config/stamps/1", "property_not_found", {"name": "gone"}),
        Problem("/steps/0/config/stamps/2", "no_date_property", {"name": "plan"}),
    ]
