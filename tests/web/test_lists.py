"""What every list is like: its parts, its filters in the address, its two kinds of emptiness."""

import pytest
from flask import Flask
from lxml.html import HtmlElement

from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories.scenes import Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

NOTHING = "q=nobody-of-this-name"
# Each list with a filter that finds nothing, and one that finds something but not all.
FILTERED = {
    "/automations": ("status=active", "status=active"),
    "/runs": (NOTHING, "status=completed"),
    "/people": (NOTHING, "q=kim"),
    "/sends": (NOTHING, "q=kim.arnold@partner.example"),
    "/suppressions": (NOTHING, "q=blocked"),
    "/audit": ("action=user.created&actor=nobody", "action=automation.paused"),
}


def _rows(page: HtmlElement) -> list[str]:
    return texts(page, ".table tbody tr")


def _named(page: HtmlElement) -> list[str]:
    """Return what the rows are about; the acts in them depend on who reads."""
    return texts(page, ".table tbody tr th") or _rows(page)


@pytest.mark.parametrize("address", FILTERED)
def test_a_list_is_a_heading_one_first_act_filters_by_address_and_a_table(
    owner: Reader, uow: UnitOfWork, acme: Town, scene: Scene, address: str
) -> None:
    _block(uow, acme)
    page = tree(owner.get(address))
    assert len(pick(page, ".head h1")) == 1
    assert len(pick(page, ".head .btn-primary")) <= 1
    filters = [*pick(page, "form.filters"), *pick(page, "nav.tabs"), *pick(page, "form.find")]
    assert filters
    assert {form.get("method") for form in filters if form.tag == "form"} <= {"get"}
    assert len(pick(page, "main table caption")) == 1
    assert all(th.get("scope") == "col" for th in pick(page, "main thead th"))


@pytest.mark.parametrize("address", FILTERED)
def test_nothing_yet_leads_to_a_first_act_and_nothing_that_matches_to_all(
    owner: Reader, acme: Town, address: str
) -> None:
    nothing, _something = FILTERED[address]
    yet = tree(owner.get(address))
    if address != "/audit":  # which notes whoever signs in
        assert _rows(yet) == []
        (empty,) = pick(yet, ".empty")
        assert len(words(empty)) > 30
        assert pick(empty, "a") or pick(yet, "main form[method=post]")
        assert "Clear filters" not in words(empty)
    filtered = tree(owner.get(f"{address}?{nothing}"))
    (empty,) = pick(filtered, ".empty")
    (clear,) = pick(empty, "a")
    assert words(clear) in {"Clear filters", "Show everybody"}
    assert clear.get("href") == address


@pytest.mark.parametrize("address", FILTERED)
def test_a_filtered_address_shows_somebody_else_the_same_rows(
    app: Flask, owner: Reader, uow: UnitOfWork, acme: Town, scene: Scene, address: str
) -> None:
    _block(uow, acme)
    _nothing, something = FILTERED[address]
    owner.post(f"/automations/{scene.automations['active']}/pause")
    owner.post(f"/automations/{scene.automations['active']}/resume")
    shared = f"{address}?{something}"
    mine = _named(tree(owner.get(shared)))
    assert 0 < len(mine) < len(_named(tree(owner.get(address))))
    colleague = Reader(app)
    colleague.sign_in(acme.people["support"])
    assert _named(tree(colleague.get(shared))) == mine


def test_the_next_page_keeps_the_filter_and_a_reload_shows_the_same(
    owner: Reader, uow: UnitOfWork, acme: Town
) -> None:
    with uow.begin() as session:
        for number in range(120):
            name = "Ada" if number % 2 else "Kim"
            people.contact(session, acme.workspace_id, first_name=name)
    first = tree(owner.get("/people?q=ada"))
    following = str(one(first, ".pager a[rel=next]").get("href"))
    assert following.startswith("/people?q=ada&cursor=")
    second = _rows(tree(owner.get(following)))
    assert (len(_rows(first)), len(second)) == (50, 10)
    assert all(row.startswith("Ada") for row in second)
    assert _rows(tree(owner.get(following))) == second


def _block(uow: UnitOfWork, town: Town) -> None:
    with uow.begin() as session:
        people.suppression(session, town.workspace_id, "blocked@people.example")
        people.suppression(session, town.workspace_id, "other@people.example")
