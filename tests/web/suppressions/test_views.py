"""The page of the suppression list: block, find, let go; what a role may, and in two languages."""

import pytest
from flask import Flask
from sqlalchemy import func, select

from engine.audience import service
from engine.audience.inputs import API
from engine.audience.models import SUPPRESSION_REASONS, Suppression
from engine.audience.queries import SuppressionRow
from engine.core.unit_of_work import UnitOfWork
from tests.factories.accounts import AT
from tests.factories.audience import ACTOR
from tests.web.support import Reader, Town, tree
from web.suppressions.messages import REASONS


def block(uow: UnitOfWork, town: Town, email: str, reason: str = "bounced") -> str:
    with uow.begin() as session:
        made = service.suppress(session, town.workspace_id, email, API, ACTOR, AT, reason)
        assert isinstance(made, SuppressionRow)
        return made.public_id


def shown(reader: Reader, path: str = "/suppressions") -> list[str]:
    return [str(each) for each in tree(reader.get(path)).xpath("//tbody/tr/th//bdi/text()")]


def test_an_address_is_blocked_found_and_let_go(owner: Reader) -> None:
    assert "Nobody is blocked." in owner.get("/suppressions").text
    answer = owner.post("/suppressions", {"email": " Kim@People.example ", "reason": "manual"})
    assert (answer.status_code, answer.location) == (303, "/suppressions")
    page = tree(owner.get("/suppressions"))
    text = " ".join(page.text_content().split())
    assert "kim@people.example is blocked." in text
    assert "Blocked by hand every mail" in text
    assert shown(owner, "/suppressions?q=KIM") == ["kim@people.example"]
    assert shown(owner, "/suppressions?q=people") == []
    (opener,) = page.xpath("//tbody//a/@href")
    (action,) = tree(owner.get(str(opener))).xpath("//dialog[@open]//form/@action")
    assert owner.post(str(action)).status_code == 303
    assert shown(owner) == []
    assert owner.post(str(action)).status_code == 404


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"email": "", "reason": "manual"}, "required"),
        ({"email": "nobody", "reason": "manual"}, "This is no e-mail address."),
        ({"email": "a@b.example", "reason": "because"}, "Not a valid choice"),
        ({"email": "KIM@people.example", "reason": "manual"}, "already blocked"),
    ],
)
def test_a_wrong_form_says_what_is_wrong_and_blocks_nothing(
    uow: UnitOfWork, acme: Town, owner: Reader, form: dict[str, str], told: str
) -> None:
    block(uow, acme, "kim@people.example")
    answer = owner.post("/suppressions", form)
    assert answer.status_code == 422
    (box,) = tree(answer).xpath("//*[@id='mistakes']")
    assert told in box.text_content()
    with uow.read() as session:
        assert session.scalar(select(func.count()).select_from(Suppression)) == 1


def test_pages_follow_one_another(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    for number in range(51):
        block(uow, acme, f"gone{number:02}@people.example")
    page = tree(owner.get("/suppressions"))
    (following,) = page.xpath("//nav[@class='pager']//a[@rel='next']/@href")
    assert shown(owner)[0] == "gone50@people.example"
    assert shown(owner, str(following)) == ["gone00@people.example"]


def test_support_reads_and_does_not_change(
    app: Flask, uow: UnitOfWork, acme: Town, other: Town
) -> None:
    public_id = block(uow, acme, "kim@people.example")
    reader = Reader(app)
    reader.sign_in(acme.people["support"])
    page = tree(reader.get("/suppressions"))
    assert page.xpath("//main//form[@method='post']") == []
    assert shown(reader) == ["kim@people.example"]
    assert reader.post(f"/suppressions/{public_id}/release").status_code == 403
    foreign = Reader(app)
    foreign.sign_in(other.people["owner"])
    assert shown(foreign) == []
    assert foreign.post(f"/suppressions/{public_id}/release").status_code == 404
    assert shown(reader) == ["kim@people.example"]


def test_every_reason_has_words_in_both_languages(
    uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    assert set(REASONS) == set(SUPPRESSION_REASONS)
    for reason in SUPPRESSION_REASONS:
        block(uow, acme, f"{reason}@people.example", reason)
    english = tree(owner.get("/suppressions?lang=en")).xpath("//tbody/tr/td[1]/text()")
    german = tree(owner.get("/suppressions?lang=de")).xpath("//tbody/tr/td[1]/text()")
    assert len(set(english)) == len(set(german)) == len(SUPPRESSION_REASONS)
    assert set(english).isdisjoint(german)
