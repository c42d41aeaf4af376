"""The door behind a mail's link: reading changes nothing, posting ends marketing mail for good."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from engine import pruning
from engine.accounts.models import Workspace
from engine.audience import service as audience
from engine.audience.inputs import API
from engine.audience.models import Contact, TopicMembership
from engine.audience.queries import ContactRow
from engine.core.clock import FixedClock
from engine.core.events import Event
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.links import Links
from engine.delivery.models import MARKETING, SERVICE
from engine.delivery.service import Queued, Withheld, request_many
from engine.house import House
from tests.factories import audience as people
from tests.factories import delivery
from tests.factories.accounts import AT
from tests.web.support import Reader, Town, everything, tree
from web.links.views import LIMIT

ONE_CLICK = {"List-Unsubscribe": "One-Click"}
KIM = "kim@people.example"


class Reached:
    """A person of `acme` and the link in a mail to them."""

    def __init__(self, app: Flask, house: House, uow: UnitOfWork, acme: Town) -> None:
        self.app, self.uow, self.workspace = app, uow, acme.workspace_id
        settings = house.runtime.settings
        self.links = Links(settings.base_url, house.runtime.secret_key)
        with uow.begin() as session:
            self.kim: ContactRow = people.contact(session, self.workspace, KIM)
            topic = people.topic(session, self.workspace)
            audience.subscribe(
                session, self.workspace, topic.public_id, self.kim.public_id, API, AT
            )
            self.public_id = session.scalars(select(Contact.public_id)).one()
            self.workspace_id = workspace_id(uow, self.workspace)
        self.topic = topic.public_id
        self.path = self.link()

    def link(self, send: str | None = None) -> str:
        url = self.links.unsubscribe(self.workspace_id, self.public_id, send)
        return url.removeprefix(self.links.base_url)

    def get(self, path: str | None = None, **headers: str) -> TestResponse:
        return self.app.test_client().get(path or self.path, headers=headers)

    def post(self, path: str | None = None, data: dict[str, str] | None = None) -> TestResponse:
        return self.app.test_client().post(path or self.path, data=data)

    def contact(self) -> Contact:
        with self.uow.read() as session:
            return session.scalars(select(Contact).where(Contact.id == self.kim.row_id)).one()

    def events(self) -> list[str]:
        with self.uow.read() as session:
            return list(session.scalars(select(Event.kind).order_by(Event.id)))

    def delete(self, at: FixedClock) -> None:
        with self.uow.begin() as session:
            audience.delete_contact(session, self.workspace, self.public_id, people.ACTOR, at.now())

    def come_back(self) -> ContactRow:
        """Return a new contact with the address."""
        with self.uow.begin() as session:
            return people.contact(session, self.workspace, KIM)

    def ask(
        self, purpose: str, at: FixedClock, person: ContactRow | None = None
    ) -> Queued | Withheld:
        request = delivery.request(
            self.workspace,
            contact_id=(person or self.kim).row_id,
            to_email=KIM,
            purpose=purpose,
        )
        with self.uow.begin() as session:
            return request_many(session, [request], at.now())[request.dedupe_key]


def workspace_id(uow: UnitOfWork, row_id: int) -> str:
    with uow.read() as session:
        return session.scalars(select(Workspace.public_id).where(Workspace.id == row_id)).one()


@pytest.fixture
def reached(app: Flask, house: House, uow: UnitOfWork, acme: Town) -> Reached:
    return Reached(app, house, uow, acme)


def test_uns_01_reading_three_times_changes_nothing_and_posting_unsubscribes(
    reached: Reached, uow: UnitOfWork, clock: FixedClock
) -> None:
    with uow.read() as session:
        before = everything(session)
    for _ in range(3):
        page = reached.get()
        assert page.status_code == 200
        assert tree(page).xpath("//h1/text()") == ["Unsubscribe"]
        assert tree(page).xpath("//form[@method='post']//button/text()") == ["Unsubscribe"]
        assert "Acme" in page.text
        assert KIM not in page.text
        assert "Set-Cookie" not in page.headers
    assert reached.get(**{"X-Forwarded-For": "1.2.3.4"}).status_code == 200
    with uow.read() as session:
        after = everything(session)
    assert {k: v for k, v in before.items() if k != "rate_windows"} == {
        k: v for k, v in after.items() if k != "rate_windows"
    }
    clock.advance(timedelta(hours=1))
    done = reached.post(data=ONE_CLICK)
    assert done.status_code == 200
    assert tree(done).xpath("//h1/text()") == ["You are unsubscribed"]
    assert "Set-Cookie" not in done.headers
    assert reached.contact().unsubscribed_at == clock.now()
    assert reached.events()[-2:] == ["topic_unsubscribed", "unsubscribed"]
    # The link is good for ever, and once more changes nothing.
    clock.advance(timedelta(days=3650))
    known = reached.events()
    assert reached.post(data=ONE_CLICK).status_code == 200
    assert reached.events() == known
    assert reached.contact().unsubscribed_at == clock.now() - timedelta(days=3650)
    assert tree(reached.get()).xpath("//h1/text()") == ["You are unsubscribed"]
    # Marketing has ended, what a service needs still goes.
    assert reached.ask(MARKETING, clock) == Withheld("unsubscribed")
    assert isinstance(reached.ask(SERVICE, clock), Queued)


def test_a_head_request_of_a_scanner_changes_nothing(reached: Reached) -> None:
    assert reached.app.test_client().head(reached.path).status_code == 200
    assert reached.contact().unsubscribed_at is None


@pytest.mark.parametrize("data", [{}, ONE_CLICK, {"anything": "else"}])
def test_the_button_and_a_mail_program_need_no_token_of_a_form(
    reached: Reached, data: dict[str, str]
) -> None:
    assert reached.post(data=data).status_code == 200
    assert reached.contact().unsubscribed_at is not None
    with reached.uow.read() as session:
        assert session.scalars(select(TopicMembership)).all() == []


def test_the_event_names_the_mail_the_link_stood_in(reached: Reached) -> None:
    assert reached.post(reached.link("sendofthetests")).status_code == 200
    with reached.uow.read() as session:
        event = session.scalars(select(Event).where(Event.kind == "unsubscribed")).one()
    assert (event.source, event.data) == ("public_email_link", {"send": "sendofthetests"})


@pytest.mark.parametrize("change", ["cut", "other", "empty", "signature", "long"])
def test_a_made_up_link_is_unknown_and_says_so(reached: Reached, change: str) -> None:
    token = reached.path.removeprefix("/u/")
    made_up = {
        "cut": token[:-1],
        "other": token.replace(reached.public_id, "x" * 22),
        "empty": "...",
        "signature": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "long": token * 5,
    }[change]
    for answer in (reached.get(f"/u/{made_up}"), reached.post(f"/u/{made_up}", ONE_CLICK)):
        assert answer.status_code == 404
        assert tree(answer).xpath("//h1/text()") == ["This link does not work"]
        assert "Open the link in the mail once more" in answer.text
    assert reached.contact().unsubscribed_at is None


def test_a_link_into_a_workspace_the_person_is_not_of_is_unknown(
    reached: Reached, other: Town
) -> None:
    foreign = workspace_id(reached.uow, other.workspace_id)
    url = reached.links.unsubscribe(foreign, reached.public_id)
    path = url.removeprefix(reached.links.base_url)
    assert reached.get(path).status_code == reached.post(path).status_code == 404
    assert reached.contact().unsubscribed_at is None


@pytest.mark.parametrize("opted_out", [True, False])
def test_the_link_of_a_person_who_was_purged_says_that_there_is_nobody_left(
    reached: Reached, uow: UnitOfWork, clock: FixedClock, opted_out: bool
) -> None:
    if opted_out:
        assert reached.post().status_code == 200
    reached.delete(clock)
    assert reached.get().status_code == 200
    clock.advance(timedelta(days=31))
    assert pruning.purge(uow) == {"contacts": 1}
    english = ("There is nothing left to unsubscribe", "use the link in the newest one")
    german = ("Hier ist nichts mehr abzumelden", "hilft der Link in der neuesten")
    for language, (heading, advice) in (("en", english), ("de", german)):
        page = reached.get(**{"Accept-Language": language})
        assert page.status_code == 404
        assert tree(page).xpath("//h1/text()") == [heading]
        assert advice in page.text
        assert tree(page).xpath("//form[@method='post']") == []
    answer = reached.post(data=ONE_CLICK)
    assert (answer.status_code, tree(answer).xpath("//h1/text()")) == (404, [english[0]])


def test_who_opted_out_and_comes_back_gets_no_marketing_mail(
    reached: Reached, clock: FixedClock
) -> None:
    assert reached.post(data=ONE_CLICK).status_code == 200
    reached.delete(clock)
    back = reached.come_back()
    assert reached.ask(MARKETING, clock, back) == Withheld("unsubscribed")
    assert isinstance(reached.ask(SERVICE, clock, back), Queued)


def test_an_old_link_says_whether_the_address_still_gets_mail(
    reached: Reached, clock: FixedClock
) -> None:
    assert reached.post(data=ONE_CLICK).status_code == 200
    reached.delete(clock)
    back = reached.come_back()
    assert tree(reached.get()).xpath("//h1/text()") == ["You are unsubscribed"]
    with reached.uow.begin() as session:
        audience.subscribe(
            session, reached.workspace, reached.topic, back.public_id, API, clock.now()
        )
    assert isinstance(reached.ask(MARKETING, clock, back), Queued)
    assert tree(reached.get()).xpath("//h1/text()") == ["Unsubscribe"]
    assert reached.post(data=ONE_CLICK).status_code == 200
    assert tree(reached.get()).xpath("//h1/text()") == ["You are unsubscribed"]
    assert reached.ask(MARKETING, clock, back) == Withheld("unsubscribed")


def test_somebody_signed_in_elsewhere_may_still_unsubscribe(
    reached: Reached, other: Town, app: Flask
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    assert reader.get(reached.path).status_code == 200
    assert reader.client.post(reached.path, data=ONE_CLICK).status_code == 200
    assert reached.contact().unsubscribed_at is not None
    assert tree(reader.get("/")).xpath("//h1/text()") == [other.name]


def test_the_page_speaks_the_readers_language_or_the_persons(reached: Reached) -> None:
    with reached.uow.begin() as session:
        session.get_one(Contact, reached.kim.row_id).language = "de-AT"
    for accepted, spoken in (("", "de"), ("fr", "de"), ("en", "en"), ("de", "de")):
        headers = {"Accept-Language": accepted} if accepted else {}
        page = tree(reached.get(**headers))
        assert page.xpath("//html/@lang") == [spoken], accepted
        heading = {"de": "Abmelden", "en": "Unsubscribe"}[spoken]
        assert page.xpath("//h1/text()") == [heading]


def test_a_preview_shows_what_it_is_and_acts_on_nobody(reached: Reached) -> None:
    page = reached.get("/u/preview")
    assert page.status_code == 200
    assert tree(page).xpath("//h1/text()") == ["This is a preview"]
    assert reached.post("/u/preview").status_code == 404
    assert reached.contact().unsubscribed_at is None


def test_one_client_is_asked_to_wait_after_thirty_tries_a_minute(
    reached: Reached, clock: FixedClock
) -> None:
    for count in range(LIMIT):
        answer = reached.get("/u/a.b.c.d") if count % 2 else reached.post("/u/e.f.g.h")
        assert answer.status_code == 404
    refused = [reached.get("/u/a.b.c.d"), reached.post("/u/i.j.k.l")]
    assert [answer.status_code for answer in refused] == [429, 429]
    assert 0 < int(refused[0].headers["Retry-After"]) <= 61
    # Guesses never stand in the way of somebody with a good link.
    assert reached.get().status_code == 200
    assert [reached.post().status_code for _ in range(LIMIT)] == [200] * (LIMIT - 1) + [429]
    clock.advance(timedelta(minutes=1))
    assert reached.get("/u/a.b.c.d").status_code == 404
    assert reached.post().status_code == 200
