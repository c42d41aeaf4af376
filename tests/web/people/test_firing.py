"""An event by hand: what it may start is said before, the role decides, the audit log knows."""

import pytest
from flask import Flask
from sqlalchemy import select

from engine.core.audit import AuditEntry
from engine.core.events import Event
from engine.core.unit_of_work import UnitOfWork
from tests.factories.scenes import EVENT, Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


@pytest.fixture
def address(scene: Scene) -> str:
    """Return where an event for one person is fired."""
    return f"/people/{scene.people['first']}/events"


def test_the_form_says_what_waits_for_which_event(owner: Reader, address: str) -> None:
    page = tree(owner.get(address))
    assert texts(page, "aside li") == [f"Trial lifecycle {EVENT}"]
    assert [option.get("value") for option in pick(page, "datalist option")] == [EVENT]


@pytest.mark.parametrize("role", ["owner", "admin", "support"])
def test_who_may_act_for_people_fires_an_event_and_it_is_audited(
    app: Flask, uow: UnitOfWork, acme: Town, scene: Scene, role: str
) -> None:
    person = scene.people["bare"]
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    sent = {"event_name": f" {EVENT} ", "event_properties": '{"seats": 4}'}
    answer = reader.post(f"/people/{person}/events", sent)
    assert (answer.status_code, answer.location) == (303, f"/people/{person}")
    said = words(one(tree(reader.get(answer.location)), "#said"))
    assert f"Event “{EVENT}” happened. It started 1 automation." in said
    with uow.read() as session:
        event = session.scalars(select(Event).order_by(Event.id.desc()).limit(1)).one()
        line = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()
    assert (event.name, event.source, event.data) == (
        EVENT,
        "console",
        {"event_properties": {"seats": 4}},
    )
    assert (line.action, line.resource_id) == ("event.fired", person)
    assert line.details == {"event": event.public_id, "event_name": EVENT, "started": 1}
    assert line.actor == f"user:{acme.ids[role]}"


def test_an_editor_neither_sees_nor_may_do_it(
    app: Flask, acme: Town, scene: Scene, address: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people["editor"])
    assert "Fire an event…" not in reader.get(f"/people/{scene.people['first']}").text
    assert reader.get(address).status_code == 403
    assert reader.post(address, {"event_name": EVENT}).status_code == 403


def test_a_form_without_the_token_of_the_page_is_refused(owner: Reader, address: str) -> None:
    answer = owner.client.post(address, data={"event_name": EVENT})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"event_name": "no spaces"}, "An event needs a name of at most 100 characters."),
        (
            {"event_name": EVENT, "event_properties": "[1]"},
            'Write an object in JSON, such as {"plan": "pro"}.',
        ),
        (
            {"event_name": EVENT, "event_properties": "nonsense"},
            'Write an object in JSON, such as {"plan": "pro"}.',
        ),
        (
            {"event_name": EVENT, "event_properties": '{"a": {"b": 1}}'},
            "This must be a text, a number, true, false or nothing.",
        ),
    ],
)
def test_what_is_wrong_stands_in_the_form_and_nothing_happens(
    owner: Reader, uow: UnitOfWork, address: str, sent: dict[str, str], sentence: str
) -> None:
    with uow.read() as session:
        before = session.scalars(select(Event.id)).all()
    answer = owner.post(address, sent)
    assert answer.status_code == 422
    page = tree(answer)
    assert sentence in words(one(page, "#mistakes"))
    assert one(page, "input[name=event_name]").get("value") == sent["event_name"]
    with uow.read() as session:
        assert session.scalars(select(Event.id)).all() == before


def test_an_event_that_nothing_waits_for_says_so(owner: Reader, scene: Scene, address: str) -> None:
    owner.post(address, {"event_name": "something_else"})
    said = words(one(tree(owner.get(f"/people/{scene.people['first']}")), "#said"))
    assert "It started no automation." in said


def test_names_of_events_are_offered_those_waited_for_and_those_seen_lately(
    owner: Reader, scene: Scene, address: str
) -> None:
    owner.post(address, {"event_name": "never_waited_for"})
    offered = [each.get("value") for each in pick(tree(owner.get(address)), "#names option")]
    assert {"never_waited_for", "trial_started"} <= {*offered}
    assert len(offered) == len({*offered})
