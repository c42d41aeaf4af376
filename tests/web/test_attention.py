"""The page of what needs attention: one line for equal errors, a count in the navigation."""

from flask import Flask

from engine.automations import queries
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as making
from tests.factories.acting import breaking, fail
from tests.factories.scenes import Scene
from tests.factories.world import World
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import pick, texts
from tests.web.support import Reader, Town, tree

PEOPLE = 500
HELD = "section[aria-labelledby=held-title]"


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


def test_whom_a_paused_automation_holds_stands_in_one_line_apart_from_what_failed(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    raw = making.document(making.delay("wait"), on_pause="hold", name="Longer")
    running = Running(owner, uow, acme, clock, raw)
    running.enter(12)
    assert not pick(tree(owner.get("/attention")), HELD)
    owner.post(f"{running.page}/pause")
    page = tree(owner.get("/attention"))
    assert texts(page, f"{HELD} li") == [
        "Paused Longer paused since Mon 2 Mar, 09:00 UTC · 12 people inside"
    ]
    automation, runs = pick(page, f"{HELD} li a")
    assert automation.get("href") == running.page
    assert len(pick(tree(owner.get(runs.get("href"))), "tbody tr")) == 12
    owner.post(f"{running.page}/stop", {"sure": "yes"})
    assert not pick(tree(owner.get("/attention")), HELD)


def test_nothing_of_another_workspace_is_shown(
    app: Flask, owner: Reader, uow: UnitOfWork, scene: Scene, clock: FixedClock, other: Town
) -> None:
    raw = making.document(making.delay("wait"), on_pause="hold")
    running = Running(owner, uow, Town(scene.workspace_id, "", {}, {}), clock, raw)
    running.enter(1)
    owner.post(f"{running.page}/pause")
    assert pick(tree(owner.get("/attention")), HELD)
    stranger = Reader(app)
    stranger.sign_in(other.people["owner"])
    page = tree(stranger.get("/attention"))
    assert not pick(page, "tbody tr")
    assert not pick(page, HELD)


def test_the_page_asks_few_questions(owner: Reader, scene: Scene, house: House) -> None:
    with counting(house.runtime.database.engine) as asked:
        owner.get("/attention")
    assert asked.count <= 12, asked.statements
