"""Why, or why not, from both sides: the person's page and the automation's; reads only."""

from urllib.parse import urlencode

import pytest

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as make
from tests.factories.scenes import Scene
from tests.support.untouched import untouched
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

KIM = "kim.arnold@partner.example"


def test_the_person_s_page_leads_to_the_question(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    assert f"/people/{scene.people['first']}/why" in page.xpath("//main//a/@href")
    asked = tree(owner.get(f"/people/{scene.people['first']}/why"))
    assert "A maze of branches" in texts(asked, "select option")
    assert pick(asked, "#answer-title") == []


def test_somebody_who_never_entered_hears_what_is_missing(
    owner: Reader, uow: UnitOfWork, scene: Scene
) -> None:
    maze = scene.automations["maze"]
    with untouched(uow):
        page = tree(owner.get(f"/people/{scene.people['first']}/why?automation={maze}"))
    answer = words(one(page, "#answer-title"))
    assert answer.startswith("Nothing of the kind that starts the automation has happened")
    assert "judged as of now" in answer
    assert "It happened to the person no Nothing of the kind is known." in texts(page, "ol li")


def test_somebody_who_entered_hears_of_the_run(owner: Reader, scene: Scene) -> None:
    live = scene.automations["active"]
    page = tree(owner.get(f"/automations/{live}/why?{urlencode({'contact': KIM})}"))
    answer = words(one(page, "#answer-title"))
    assert "recorded at the time" in answer
    assert any("/runs/" in str(link) for link in page.xpath("//main//a/@href"))


def test_a_refusal_is_told_as_it_was_recorded(
    owner: Reader, uow: UnitOfWork, clock: FixedClock, acme: Town, scene: Scene
) -> None:
    paused = scene.automations["paused"]
    with uow.begin() as session:
        raw = make.document(make.delay("wait"), reentry="once", name="Once")
        row = make.live(session, acme.workspace_id, raw, clock.now())
        wish = service.Wish("paused")
        service.move(session, acme.workspace_id, row.public_id, wish, make.ACTOR, clock.now())
        once = row.public_id
    owner.post(f"/people/{scene.people['first']}/events", {"event_name": "go"})
    page = tree(owner.get(f"/people/{scene.people['first']}/why?automation={once}"))
    assert "When it happened, the automation was paused." in words(one(page, "#answer-title"))
    assert len(pick(page, "ul.lines li")) >= 1
    other = tree(owner.get(f"/people/{scene.people['first']}/why?automation={paused}"))
    assert "Paused since" in words(one(other, "ol.lines"))


def test_a_deleted_automation_stays_readable(
    owner: Reader, uow: UnitOfWork, clock: FixedClock, acme: Town, scene: Scene
) -> None:
    draft = scene.automations["draft"]
    with uow.begin() as session:
        service.remove(session, acme.workspace_id, draft, make.ACTOR, clock.now())
    page = tree(owner.get(f"/people/{scene.people['first']}/why?automation={draft}"))
    assert "The automation was deleted" in words(one(page, "#answer-title"))
    assert "Win back (deleted)" in texts(page, "select option")
    assert owner.get(f"/automations/{draft}/why").status_code == 200


@pytest.mark.parametrize("text", ["nobody@people.example", "zzz"])
def test_a_person_nobody_knows_is_said_at_the_field(owner: Reader, scene: Scene, text: str) -> None:
    answer = owner.get(f"/automations/{scene.automations['active']}/why?contact={text}")
    assert answer.status_code == 422
    assert texts(tree(answer), ".wrong") == ["There is no such person."]


def test_unknown_ids_are_not_found(owner: Reader, scene: Scene) -> None:
    assert owner.get(f"/people/{scene.people['first']}/why?automation=x").status_code == 404
    assert owner.get("/automations/unknown/why").status_code == 404


def test_the_number_of_statements_is_bounded(owner: Reader, house: House, scene: Scene) -> None:
    address = f"/people/{scene.people['first']}/why?automation={scene.automations['active']}"
    owner.get(address)
    with counting(house.runtime.database.engine) as asked:
        assert owner.get(address).status_code == 200
    assert asked.count <= 17, asked.statements
