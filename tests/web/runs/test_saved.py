"""Saved views of the list of runs: one's own, above the filters, under names of any kind."""

from urllib.parse import quote

import pytest
from flask import Flask

from engine.accounts.service.views import MOST
from tests.factories.scenes import Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

VIEWS = "#saved a"


def _keep(reader: Reader, name: str, **filters: str) -> str:
    answer = reader.post("/runs/views", {"name": name, **filters})
    assert answer.status_code == 303, answer.data
    return answer.headers["Location"]


def test_filters_are_kept_under_a_name_and_the_open_view_is_marked(
    owner: Reader, scene: Scene
) -> None:
    assert pick(tree(owner.get("/runs")), VIEWS) == []
    # Only what the list knows is kept, in its own order, without what is empty.
    place = _keep(
        owner, "Kim’s ends", q=" kim ", status="completed", step="", cursor="x", page="2", lang="de"
    )
    assert place == "/runs?status=completed&q=kim"
    page = tree(owner.get(place))
    assert words(one(page, "#said")).startswith("The view “Kim’s ends” is saved.")
    assert texts(page, VIEWS) == ["All runs", "Kim’s ends"]
    assert [link.get("aria-current") for link in pick(page, VIEWS)] == [None, "true"]
    assert pick(page, VIEWS)[1].get("href") == place
    # In another order it is the same view, and on the second page too.
    again = tree(owner.get("/runs?q=kim&status=completed&cursor="))
    assert [link.get("aria-current") for link in pick(again, VIEWS)] == [None, "true"]
    everything = tree(owner.get("/runs"))
    assert [link.get("aria-current") for link in pick(everything, VIEWS)] == ["true", None]


def test_saving_under_a_name_in_use_replaces_and_says_so(owner: Reader, scene: Scene) -> None:
    _keep(owner, "Mine", status="running")
    page = tree(owner.get(_keep(owner, "Mine", q="ada")))
    assert words(one(page, "#said")).startswith(
        "“Mine” now keeps these filters in place of its old ones."
    )
    assert [link.get("href") for link in pick(page, VIEWS)] == ["/runs", "/runs?q=ada"]


def test_an_open_view_is_deleted_and_its_filters_stay(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(_keep(owner, "Mine", q="ada")))
    [form] = [each for each in pick(page, "main form") if each.get("action").endswith("/delete")]
    answer = owner.post(form.get("action"))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?q=ada")
    after = tree(owner.get("/runs?q=ada"))
    assert words(one(after, "#said")).startswith("The view “Mine” is deleted.")
    assert pick(after, VIEWS) == []
    assert owner.post(form.get("action")).status_code == 404


def test_nobody_sees_or_deletes_the_views_of_others(
    app: Flask, owner: Reader, acme: Town, scene: Scene
) -> None:
    page = tree(owner.get(_keep(owner, "Mine", q="ada")))
    [form] = [each for each in pick(page, "main form") if each.get("action").endswith("/delete")]
    other = Reader(app)
    other.sign_in(acme.people["support"])
    assert pick(tree(other.get("/runs")), VIEWS) == []
    assert other.post(form.get("action")).status_code == 404
    _keep(other, "Mine", q="kim")
    assert len(pick(tree(owner.get("/runs?q=ada")), VIEWS)) == 2


@pytest.mark.parametrize("name", ["🚂 Züge & mehr", "مرحبا بالعالم", "<script>alert(1)</script>"])
def test_a_name_of_any_kind_is_shown_as_it_is(owner: Reader, scene: Scene, name: str) -> None:
    page = tree(owner.get(_keep(owner, name, q="ada")))
    assert texts(page, f"{VIEWS} bdi") == [name]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("  ", "Give the view a name."),
        ("🚂" * 200, "A name has at most 80 characters; this one has 200. Shorten it."),
    ],
)
def test_a_name_that_does_not_do_is_told_beside_the_field_and_nothing_is_lost(
    owner: Reader, scene: Scene, name: str, told: str
) -> None:
    answer = owner.post("/runs/views", {"name": name, "status": "running", "q": "a"})
    assert answer.status_code == 422
    page = tree(answer)
    assert words(one(page, "#view-name-wrong")) == told
    assert one(page, "#view-name").get("value") == name
    assert one(page, "#f-q").get("value") == "a"
    assert pick(page, "details input[name=q]")[0].get("value") == "a"


def test_without_filters_there_is_nothing_to_keep(owner: Reader, scene: Scene) -> None:
    answer = owner.post("/runs/views", {"name": "Everything"})
    assert answer.status_code == 422
    assert words(one(tree(answer), "#view-name-wrong")).startswith("No filter is set")
    assert pick(tree(owner.get("/runs")), "details.keep") == []


def test_filters_too_long_and_views_too_many_are_refused_in_words(
    owner: Reader, scene: Scene
) -> None:
    long = owner.post("/runs/views", {"name": "Long", "error": "é" * 700})
    assert words(one(tree(long), "#view-name-wrong")).startswith("These filters are too long")
    for number in range(MOST):
        _keep(owner, f"View {number}", q=quote(str(number)))
    answer = owner.post("/runs/views", {"name": "One more", "q": "a"})
    assert answer.status_code == 422
    assert words(one(tree(answer), "#view-name-wrong")).startswith("You have 50 views")
    assert len(pick(tree(answer), VIEWS)) == MOST + 1


def test_the_address_of_a_refused_page_leads_to_the_list(owner: Reader, scene: Scene) -> None:
    answer = owner.get("/runs/views?q=a%20b&lang=de")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?q=a%20b&lang=de")
