"""How far people get, as the page tells it: shares, bars, steps of older revisions."""

from flask import Flask

from engine.automations.queries import Figures, StepFigures, Tally
from tests.factories.scenes import Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, tree
from web.automations import funnel


def test_each_step_says_who_came_and_what_became_of_them(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/automations/{scene.automations['active']}"))
    assert texts(page, ".funnel li") == [
        "Mail “Welcome aboard” 7 came (100%) · 6 done · 1 failed",
        "Wait 3 days 6 came (86%) · 4 done",
        "onboarding_complete is true? 4 came (57%) · 4 done",
        "Mail “Can we help?” 2 came (29%) · 2 done · 2 skipped",
        "Wait 4 days 2 came (29%) · 0 done · 2 skipped",
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
    assert (old.title, old.came, old.skipped, old.width, old.gone) == ("old", 1, 1, 50, True)
