"""The pages of people: the search box, the list, one person with everything known."""

from datetime import UTC, datetime

import pytest
from flask import Flask
from sqlalchemy import select, update

from engine.accounts.models import Workspace
from engine.audience import queries
from engine.audience.models import Contact
from engine.audience.service import memberships, opting_out
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import EmailSend
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree
from web.people import story

KIM = "kim.arnold@partner.example"


@pytest.mark.parametrize("text", [KIM, f"  {KIM.upper()} ", "C-20418"])
def test_the_search_box_leads_to_the_person_an_address_or_number_names(
    owner: Reader, scene: Scene, text: str
) -> None:
    answer = owner.client.get("/people/find", query_string={"q": text})
    assert (answer.status_code, answer.location) == (303, f"/people/{scene.people['first']}")


def test_the_search_box_leads_to_the_mail_a_message_id_names(
    owner: Reader, scene: Scene, uow: UnitOfWork
) -> None:
    with uow.read() as session:
        message_id, send = session.execute(
            select(EmailSend.message_id, EmailSend.public_id)
            .where(EmailSend.message_id.is_not(None))
            .limit(1)
        ).one()
    assert message_id
    for text in (message_id, message_id.strip("<>")):
        answer = owner.client.get("/people/find", query_string={"q": text})
        assert (answer.status_code, answer.location) == (303, f"/sends/{send}")


def test_a_text_that_names_nobody_is_looked_for_in_names(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get("/people/find?q=ad"))
    assert texts(page, "tbody th a") == ["Ada Lovelace"]
    assert one(page, "input[name=q]").get("value") == "ad"
    nothing = tree(owner.get("/people/find?q=zzz"))
    assert texts(nothing, ".empty a") == ["Show everybody"]


def test_an_empty_search_lists_everybody(owner: Reader, scene: Scene) -> None:
    assert len(pick(tree(owner.get("/people/find?q=")), "tbody tr")) == 7


def test_the_list_says_who_is_inside_how_many_automations(owner: Reader, scene: Scene) -> None:
    rows = texts(tree(owner.get("/people")), "tbody tr")
    assert rows[-1] == (f"Kim Arnold {KIM} C-20418 de 2 Reachable Mon 2 Mar, 09:00 UTC")
    assert rows[0] == "Nobody C-30000 – 0 No address Mon 2 Mar, 09:00 UTC"


def test_a_person_leads_to_automations_and_runs_in_two_clicks(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    section = one(page, "section[aria-labelledby=runs-title]")
    assert texts(section, "a") == ["Trial lifecycle", "New readers"]
    run = tree(owner.get(pick(section, "a")[0].get("href")))
    assert words(one(run, "h1")) == "Kim Arnold in “Trial lifecycle”"


def test_the_page_says_everything_known(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    facts = dict(zip(texts(page, "dl.facts dt"), texts(page, "dl.facts dd"), strict=True))
    assert facts == {
        "First name": "Kim", "Last name": "Arnold", "E-mail address": KIM, "Number": "C-20418",
        "Language": "de", "Time zone": "Europe/Berlin", "onboarding_complete": "no",
        "plan": "team", "seats": "12",
    }  # fmt: skip
    assert "News Subscribed" in words(page)


def test_the_story_tells_what_happened_the_newest_first(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    told = texts(page, ".log .what")
    assert told[0] == "Mail “Can we help?” kept in the outbox here"
    assert told[-1] == "Became known"
    assert {"Event “trial_started”", "Subscribed to the topic “News”"} <= set(told)
    assert {"Entered the automation “Trial lifecycle”", "Mail “Welcome, Kim” queued"} <= set(told)
    assert not [line for line in told if "_" in line.replace("trial_started", "")]


def test_each_line_of_the_story_leads_to_the_thing_itself(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    targets = [a.get("href") for a in pick(page, ".log a")]
    assert {target.split("/")[1] for target in targets} == {"runs", "sends"}
    assert {owner.get(target).status_code for target in targets} == {200}


def test_a_long_story_goes_on_behind_a_cursor(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        person = people.contact(session, acme.workspace_id)
        session.add_all(
            Event(
                public_id=f"evt_{number}",
                workspace_id=acme.workspace_id,
                contact_id=person.row_id,
                kind="event_received",
                name=f"event {number}",
                data={},
                source="api",
                occurred_at=clock.now(),
                recorded_at=clock.now(),
            )
            for number in range(60)
        )
    first = tree(owner.get(f"/people/{person.public_id}"))
    assert len(pick(first, ".log .what")) == 50
    following = tree(owner.get(one(first, ".pager a[rel=next]").get("href")))
    assert texts(following, ".log .what")[-1] == "Became known"


def test_who_left_is_shown_so(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        person = people.contact(session, acme.workspace_id)
        session.execute(
            update(Contact)
            .where(Contact.workspace_id == acme.workspace_id, Contact.id == person.row_id)
            .values(unsubscribed_at=clock.now())
        )
    page = tree(owner.get(f"/people/{person.public_id}"))
    assert texts(page, ".head .sig") == ["Unsubscribed"]
    sentence = words(one(page, ".true-now"))
    assert "by the API. Unsubscribed Mon 2 Mar" in sentence
    assert "marketing mail is not sent" in sentence


def test_a_stranger_of_another_workspace_finds_nobody(
    app: Flask, other: Town, scene: Scene
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    assert reader.get(f"/people/{scene.people['first']}").status_code == 404
    assert pick(tree(reader.get("/people")), "tbody tr") == []
    assert reader.client.get("/people/find", query_string={"q": KIM}).status_code == 200


@pytest.mark.parametrize("role", ["editor", "support"])
def test_everybody_of_the_workspace_may_read(
    app: Flask, acme: Town, scene: Scene, role: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    assert reader.get(f"/people/{scene.people['first']}").status_code == 200


def test_every_line_that_a_room_may_tell_has_words() -> None:
    lines = {"contact_created", "contact_updated", "contact_deleted", "event_received"}
    lines |= {memberships.SUBSCRIBED, memberships.PENDING, memberships.UNSUBSCRIBED}
    lines |= {opting_out.UNSUBSCRIBED}
    lines |= {"date_reached", "run_started", "run_completed", "run_cancelled"}
    lines |= {"send_queued", "send_sent", "send_kept", "send_failed"}
    assert lines == set(story.TOLD)


def test_the_list_asks_no_more_of_the_database_for_more_people(
    owner: Reader, house: House, uow: UnitOfWork, acme: Town
) -> None:
    counts: list[int] = []
    for many in (1, 40):
        with uow.begin() as session:
            for _ in range(many):
                people.contact(session, acme.workspace_id)
        with counting(house.runtime.database.engine) as asked:
            assert owner.get("/people").status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 9


def test_tim_06_a_stamp_of_noon_in_utc_is_shown_at_two_in_berlin(
    owner: Reader, acme: Town, scene: Scene, uow: UnitOfWork, clock: FixedClock
) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    clock.set(noon)
    with uow.begin() as session:
        session.execute(update(Workspace).values(timezone="Europe/Berlin"))
        people.custom_property(session, scene.workspace_id, "seen_at", "instant")
        kim = queries.get_contact(session, scene.workspace_id, scene.people["first"])
        assert kim is not None
        step = {"key": "stamp", "type": "update_contact", "config": {"stamps": ["seen_at"]}}
        trigger = {"type": "event_received", "config": {"event_name": "seen"}}
        document = making.document(step, trigger=trigger)
        automation = making.live(session, scene.workspace_id, document, noon)
        making.fire(session, scene.workspace_id, [kim], noon, "seen")
    StepWalker(uow).sweep()
    owner.sign_in(acme.people["owner"])  # the session of March is over
    page = tree(owner.get(f"/people/{scene.people['first']}"))
    facts = dict(zip(texts(page, "dl.facts dt"), texts(page, "dl.facts dd"), strict=True))
    assert facts["seen_at"] == "Wed 1 Jul, 14:00 CEST"
    with uow.read() as session:
        run = making.runs(session, automation)[0].public_id
    assert "seen_at: no value → Jul 1, 2026, 2:00:00" in words(tree(owner.get(f"/runs/{run}")))
