"""The page of what needs attention: one line for equal errors, a count in the navigation."""

from flask import Flask

from engine.automations import queries
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories.acting import breaking, fail
from tests.factories.scenes import Scene
from tests.factories.world import World
from tests.web.counting import counting
from tests.web.picking import pick, texts
from tests.web.support import Reader, Town, tree

PEOPLE = 500


def test_a_cause_says_what_where_how_many_and_leads_to_its_runs(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get("/attention"))
    (row,) = texts(page, "tbody tr")
    assert row.startswith("Failed The person has no e-mail address. NO_ADDRESS Trial lifecycle")
    assert texts(page, ".side a[aria-current]") == ["Needs attention (1)"]
    link = pick(page, "td a.btn")[-1]
    assert texts(tree(owner.get(link.get("href"))), "tbody th a") == ["Nobody"]
    assert texts(tree(owner.get("/runs?attention=1&error=OTHER")), "tbody th a") == []


def test_who_looked_at_it_takes_it_off(owner: Reader, scene: Scene) -> None:
    assert owner.post(f"/runs/{scene.runs['step_failed']}/dismiss").status_code == 303
    page = tree(owner.get("/attention"))
    assert not pick(page, "tbody tr")
    assert texts(page, ".side a[aria-current]") == ["Needs attention"]


def test_pau_06_five_hundred_equal_errors_are_one_line_after_bounded_tries(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock, PEOPLE)
    row = breaking(world, on_pause="hold")
    world.fire()
    fail(world)
    with uow.read() as session:
        causes = queries.causes(session, world.workspace_id)
        held = world.visits(row)
    # The breaker pauses after five in a row; what was under way by then still fails.
    assert [(cause.step_key, cause.error_code, cause.count) for cause in causes] == [
        ("mail", "TEMPLATE_NOT_FOUND", PEOPLE),
    ]
    assert {visit.attempt for visit in held} == {4}
    assert not causes[0].capped
    with uow.read() as session:
        capped = queries.causes(session, world.workspace_id, most=10)
        assert queries.cause_count(session, world.workspace_id) == 1
    assert (capped[0].count, capped[0].capped) == (11, True)


def test_nothing_of_another_workspace_is_shown(app: Flask, scene: Scene, other: Town) -> None:
    stranger = Reader(app)
    stranger.sign_in(other.people["owner"])
    assert not pick(tree(stranger.get("/attention")), "tbody tr")


def test_the_page_asks_few_questions(owner: Reader, scene: Scene, house: House) -> None:
    with counting(house.runtime.database.engine) as asked:
        owner.get("/attention")
    assert asked.count <= 12, asked.statements
