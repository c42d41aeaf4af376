"""The condition step on odd values: every run goes on, and the log says what was found."""

from typing import Any

import pytest

from engine.audience import service
from engine.audience.inputs import API, MERGE, ContactInput, ContactPatch
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.factories.world import World

MISSING = object()


def ask(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    rule = {"kind": "contact_property", "field": field, "operator": operator}
    condition = rule if value is None else {**rule, "value": value}
    config = {"condition": condition, "yes": None, "no": None}
    return {"key": "ask", "type": "condition", "config": config}


def walked(
    world: World, kind: str, values: list[object], operator: str, value: object = None
) -> Automation:
    """Return an automation that a person with each of the values has walked."""
    with world.uow.begin() as session:
        audience.custom_property(session, world.workspace_id, "src", kind)
        world.people = [audience.contact(session, world.workspace_id) for _ in values]
        patches = {
            person.row_id: ContactPatch(properties={"src": each})
            for person, each in zip(world.people, values, strict=True)
            if each is not MISSING
        }
        at = world.clock.now()
        service.update_contacts(session, world.workspace_id, patches, API, at)
    return world.walk_once(ask("src", operator, value))


def answers(world: World, automation: Automation) -> list[tuple[str, str, Any]]:
    """Return status, way and value found of each person's visit, in the order of the people."""
    with world.uow.read() as session:
        visits = [make.visits(session, run)[0] for run in make.runs(session, automation)]
    return [
        (visit.status, (visit.result or {})["branch"], (visit.result or {})["found"])
        for visit in visits
    ]


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock)


def test_con_01_a_missing_value_counts_as_not_equal(world: World) -> None:
    values = [MISSING, None, "", "Aweber", "aweber"]
    automation = walked(world, "text", values, "not_equals", "Aweber")
    assert answers(world, automation) == [
        ("completed", "yes", None),
        ("completed", "yes", None),
        ("completed", "yes", ""),
        ("completed", "no", "Aweber"),
        ("completed", "no", "aweber"),  # compared without regard to case (facts 2.2)
    ]


@pytest.mark.parametrize(("operator", "way"), [("is_empty", "yes"), ("not_empty", "no")])
def test_con_03_an_empty_date_is_empty_and_fails_no_step(
    world: World, operator: str, way: str
) -> None:
    automation = walked(world, "instant", [MISSING, None, "", "2026-03-02"], operator)
    other = "no" if way == "yes" else "yes"
    assert [(status, found) for status, found, _ in answers(world, automation)] == [
        *[("completed", way)] * 3,
        ("completed", other),
    ]


def test_con_06_numbers_compare_as_numbers_and_a_text_is_none(world: World) -> None:
    automation = walked(world, "text", ["10", "9", "10 EUR", MISSING], "gt", "9")
    assert answers(world, automation) == [
        ("completed", "yes", "10"),
        ("completed", "no", "9"),
        ("completed", "no", "10 EUR"),
        ("completed", "no", None),
    ]


def test_con_06_a_number_in_another_country_s_spelling_is_refused_where_it_comes_in(
    world: World,
) -> None:
    with world.uow.begin() as session:
        audience.custom_property(session, world.workspace_id, "price", "number")
        sent = [
            ContactInput(email=f"p{place}@people.example", properties={"price": spelt})
            for place, spelt in enumerate(["1.000,50", "1000.50"])
        ]
        refused, kept = service.save_contacts(
            session, world.workspace_id, sent, MERGE, API, world.clock.now()
        )
    problem = Problem("/properties/price", "not_a_number")
    assert refused == Refused("invalid_contact", "invalid", (problem,))
    assert audience.saved(kept).contact.properties == {"price": 1000.5}
