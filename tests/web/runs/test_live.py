"""The page of a run follows what happens: nothing while nothing changed, then what did."""

from datetime import timedelta

from flask import Flask

from engine.core.clock import FixedClock
from engine.house import House
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree

WAITING = "at wait"


def seen(reader: Reader, address: str) -> str:
    return str(one(tree(reader.get(address)), "#live-seen").get("value"))


def test_an_open_page_gets_nothing_until_the_run_moves_and_then_the_parts_that_changed(
    owner: Reader, scene: Scene, house: House, clock: FixedClock
) -> None:
    address = f"/runs/{scene.runs[WAITING]}"
    mark = seen(owner, address)
    assert one(tree(owner.get(address)), "#live").get("hx-get") == f"{address}/live"
    with counting(house.runtime.database.engine) as asked:
        assert owner.get(f"{address}/live?seen={mark}", HTMX).status_code == 204
    assert asked.count <= 6, asked.statements
    clock.advance(timedelta(days=3))
    house.steps.sweep()
    news = owner.get(f"{address}/live?seen={mark}", HTMX)
    part = tree(news)
    assert {each.get("id") for each in pick(part, "[hx-swap-oob]")} == {
        "live-seen", "live-said", "signal", "sentence", "switches", "held", "log", "way", "dialogs",
    }  # fmt: skip
    assert "4 days)" in " ".join(texts(part, ".log .said"))
    assert {link.get("href") for link in pick(part, "#switches a[data-dialog]")} == {
        f"{address}?ask={name}" for name in ("skip", "move", "cancel")
    }
    again = one(part, "#live-seen").get("value")
    assert owner.get(f"{address}/live?seen={again}", HTMX).status_code == 204


def test_an_act_of_somebody_else_is_followed(owner: Reader, scene: Scene) -> None:
    address = f"/runs/{scene.runs['step_failed']}"
    mark = seen(owner, address)
    owner.post(f"{address}/dismiss")
    part = tree(owner.get(f"{address}/live?seen={mark}", HTMX))
    assert "Nothing to do" not in texts(part, "#switches a")
    assert words(one(part, "#signal")) == "Ended early"


def test_a_finished_run_follows_nothing_and_without_script_one_gets_the_page(
    owner: Reader, scene: Scene, app: Flask, other: Town
) -> None:
    assert not pick(tree(owner.get(f"/runs/{scene.runs['finished']}")), "#live")
    address = f"/runs/{scene.runs[WAITING]}"
    assert owner.get(f"{address}/live").headers["Location"] == address
    stranger = Reader(app)
    stranger.sign_in(other.people["owner"])
    assert stranger.get(f"{address}/live", HTMX).status_code == 404
