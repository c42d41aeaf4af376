"""A test mail from the editor: of what is saved, to the person who asks, and to nobody else."""

from sqlalchemy import select

from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from tests.factories import audience, delivery
from tests.web.picking import one, words
from tests.web.support import Reader, Town, tree
from tests.web.templates.typed import GIVEN


def _sends(uow: UnitOfWork) -> list[tuple[str, str]]:
    with uow.read() as session:
        return [(each.to_email, each.kind) for each in session.scalars(select(EmailSend))]


def _ready(uow: UnitOfWork, acme: Town) -> None:
    with uow.begin() as session:
        delivery.sender(session, acme.workspace_id)
        audience.contact(session, acme.workspace_id, "kim@people.example", first_name="Kim")


def test_the_mail_goes_to_who_asks_whoever_it_is_made_for(
    owner: Reader, acme: Town, template: str, uow: UnitOfWork
) -> None:
    _ready(uow, acme)
    typed = {**GIVEN, "contact": "kim@people.example", "to": "stranger@elsewhere.example"}
    answer = owner.post(f"/templates/{template}/test", typed)
    assert answer.status_code == 303
    assert _sends(uow) == [(acme.people["owner"], "test")]
    page = tree(owner.get(answer.headers["Location"]))
    assert f"A test mail to {acme.people['owner']} is on its way." in words(one(page, "#said"))
    assert one(page, "#f-contact").get("value") == "kim@people.example"


def test_what_is_not_saved_is_not_sent_and_not_lost(
    owner: Reader, acme: Town, template: str, uow: UnitOfWork
) -> None:
    _ready(uow, acme)
    answer = owner.post(f"/templates/{template}/test", {**GIVEN, "subject": "Typed"})
    page = tree(answer)
    assert answer.status_code == 422
    assert "Save it first" in words(one(page, "#mistakes"))
    assert one(page, "#subject").get("value") == "Typed"
    assert _sends(uow) == []


def test_a_workspace_without_a_sender_is_told_so(
    owner: Reader, template: str, uow: UnitOfWork
) -> None:
    answer = owner.post(f"/templates/{template}/test", GIVEN)
    assert answer.status_code == 422
    assert "no default sender" in words(one(tree(answer), "#mistakes"))
    unknown = owner.post(f"/templates/{template}/test", {**GIVEN, "contact": "nobody"})
    assert "There is no such person." in words(one(tree(unknown), "#mistakes"))
    assert _sends(uow) == []
