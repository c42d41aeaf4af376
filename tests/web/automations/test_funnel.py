"""How far people get, as the page tells it: shares, bars, steps of older revisions."""

from datetime import timedelta

import pytest
from flask import Flask

from engine.automations.queries import Figures, StepFigures, Tally
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories.scenes import Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree
from web.automations import funnel


def test_each_step_says_who_came_and_what_became_of_them(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/automations/{scene.automations['active']}"))
    assert texts(page, ".funnel li") == [
        "Mail “Welcome aboard” 7 came (100%) · 6 done · 1 failed",
        "Wait 3 days 6 came (86%) · 4 done",
        "onboarding_complete is true? 4 came (57%) · 4 done",
        "Mail “Can we help?” 2 came (29%) · 2 done · 2 took another way",
        "Wait 4 days 2 came (29%) · 0 done · 2 took another way",
        "Mail “Your trial ends Friday” 2 came (29%) · 2 done",
    ]
    assert all(pick(page, str(a.get("href"))) for a in pick(page, ".funnel a"))


def test_where_nobody_entered_it_says_what_will_stand_here(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/automations/{scene.automations['maze']}"))
    assert "Nobody has entered yet." in words(one(page, "section[aria-labelledby=funnel-title]"))
    draft = tree(owner.get(f"/automations/{scene.automations['draft']}"))
    assert not pick(draft, "section[aria-labelledby=funnel-title]")


def test_in_german_it_speaks_german(owner: Reader, scene: Scene) -> None:
    owner.post("/language", {"language": "de"})
    page = tree(owner.get(f"/automations/{scene.automations['active']}"))
    first = texts(page, ".funnel li")[0]
    assert first.endswith("7 kamen (100 %) · 6 erledigt · 1 gescheitert")


def test_a_step_the_plan_no_longer_has_shows_only_where_somebody_came(app: Flask) -> None:
    steps = (
        StepFigures("kept", "delay", completed=3),
        StepFigures("old", "delay", completed=1, skipped=1),
        StepFigures("never", "delay"),
    )
    with app.test_request_context():
        kept, old = funnel.stages(Figures(Tally(entered=2), steps), {"kept": "Wait"})
    # Three visits of two people: a loop. The bar ends at its end.
    assert (kept.title, kept.came, kept.share, kept.width, kept.gone) == (
        "Wait",
        3,
        "150%",
        100,
        False,
    )
    assert (old.title, old.came, old.detoured, old.width, old.gone) == ("old", 1, 1, 50, True)


def test_whoever_was_skipped_or_left_came_and_is_told_apart_from_detours_and_failures(
    app: Flask,
) -> None:
    steps = (StepFigures("wait", "delay", failed=5, departed=4, skipped=9, passed=3),)
    with app.test_request_context():
        (stage,) = funnel.stages(Figures(Tally(entered=8), steps), {"wait": "Wait"})
    assert (stage.came, stage.share) == (8, "100%")
    assert (stage.failed, stage.left, stage.skipped, stage.detoured) == (1, 4, 3, 6)


@pytest.mark.parametrize(
    ("on_pause", "choice", "told"),
    [
        ("cancel", "", "Wait 1 hour 2 came (100%) · 0 done · 2 left here"),
        ("hold", "skip", "Wait 1 hour 2 came (100%) · 0 done · 2 skipped"),
    ],
)
def test_nobody_is_lost_who_stood_at_a_step_when_the_automation_was_paused(
    owner: Reader,
    house: House,
    uow: UnitOfWork,
    acme: Town,
    clock: FixedClock,
    on_pause: str,
    choice: str,
    told: str,
) -> None:
    with uow.begin() as session:
        steps = (making.delay("wait", 1, "hours"), making.delay("more"))
        raw = making.document(*steps, on_pause=on_pause)
        row = making.live(session, acme.workspace_id, raw, clock.now())
        persons = [people.contact(session, acme.workspace_id) for _ in range(2)]
        making.fire(session, acme.workspace_id, persons, clock.now())
    owner.post(f"/automations/{row.public_id}/pause")
    clock.advance(timedelta(hours=2))
    house.steps.sweep()
    if choice:
        owner.post(f"/automations/{row.public_id}/resume", {"resume": choice})
        house.steps.sweep()
    page = tree(owner.get(f"/automations/{row.public_id}"))
    assert texts(page, ".funnel li")[0] == told
    assert not pick(page, ".funnel .bad")
