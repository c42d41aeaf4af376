"""The sample content: people move in three automations at once, and all of it goes again."""

import itertools
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine import demo
from engine.accounts.models import Approval
from engine.accounts.service import SetUp, set_up
from engine.audience import service as audience
from engine.audience.inputs import CONSOLE, STRICT, ContactInput, PropertyInput
from engine.audience.models import Contact, OptOut, Property, Topic
from engine.automations import service as automations
from engine.automations.models import Automation, AutomationRun, AutomationStepRun
from engine.automations.service.requesting import PUBLISH
from engine.core import audit
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import service as delivery
from engine.delivery.models import EmailSend, Template
from engine.delivery.service import SenderInput
from engine.demo import content
from engine.house import House
from tests.factories import asking
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.support.house import START

ACTOR = audit.system("test")


@pytest.fixture
def workspace_id(uow: UnitOfWork) -> int:
    """Return a workspace that may send."""
    with uow.begin() as session:
        done = set_up(session, SetUp("o@acme.example", "long enough", "Acme", None), START)
        assert not isinstance(done, Refused)
        delivery.attest_domain(session, done.workspace_id, "acme.example", ACTOR, START)
        delivery.create_sender(
            session, done.workspace_id, SenderInput("o@acme.example"), ACTOR, START
        )
        return done.workspace_id


def counts(session: Session, workspace_id: int) -> Sequence[int]:
    """Return how many people, automations, templates, topics and properties stand there."""
    found = []
    for row in (Contact, Automation, Template, Topic, Property):
        where = [row.workspace_id == workspace_id]
        if hasattr(row, "deleted_at"):
            where.append(row.deleted_at.is_(None))
        found.append(session.scalars(select(func.count()).select_from(row).where(*where)).one())
    return found


def load(uow: UnitOfWork, workspace_id: int) -> None:
    """Load the sample content at START."""
    with uow.begin() as session:
        assert not isinstance(demo.load(session, workspace_id, START), Refused)


def test_loading_makes_thirty_people_and_three_live_automations(
    uow: UnitOfWork, workspace_id: int
) -> None:
    load(uow, workspace_id)
    with uow.read() as session:
        assert counts(session, workspace_id)[:2] == [30, 3]
        assert set(session.scalars(select(Automation.status))) == {"active"}
        inside = session.execute(
            select(AutomationRun.automation_id, func.count()).group_by(AutomationRun.automation_id)
        ).all()
    assert sorted(number for _automation, number in inside) == [10, 14, 30]


def test_people_stand_in_different_places_and_move(
    house: House, uow: UnitOfWork, workspace_id: int, clock: FixedClock
) -> None:
    load(uow, workspace_id)
    seen = set()
    for _minute in range(6):
        house.steps.sweep()
        house.sends.sweep()
        with uow.read() as session:
            waiting = session.execute(
                select(AutomationStepRun.step_key, func.count())
                .where(AutomationStepRun.status == "pending")
                .group_by(AutomationStepRun.step_key)
            ).all()
        seen.add(tuple(sorted((key, number) for key, number in waiting)))
        clock.advance(timedelta(minutes=1))
    assert len(seen) == 6
    assert all(len(places) >= 4 for places in seen)


def test_nobody_fails_and_everybody_gets_through_in_the_end(
    house: House, uow: UnitOfWork, workspace_id: int, clock: FixedClock
) -> None:
    load(uow, workspace_id)
    for _half_day in range(40):
        house.steps.sweep()
        house.sends.sweep()
        clock.advance(timedelta(hours=12))
    with uow.read() as session:
        assert set(session.scalars(select(AutomationRun.status))) == {"completed"}
        assert set(session.scalars(select(EmailSend.status))) == {"sent"}


def test_loading_twice_is_refused(uow: UnitOfWork, workspace_id: int) -> None:
    load(uow, workspace_id)
    with uow.begin() as session:
        assert demo.load(session, workspace_id, START) == Refused("demo_loaded")
    with uow.read() as session:
        assert counts(session, workspace_id)[0] == 30


def test_removing_takes_exactly_what_the_load_made(uow: UnitOfWork, workspace_id: int) -> None:
    theirs = content.people()[0].contact.email
    with uow.begin() as session:
        for email in ("real@acme.example", theirs):
            audience.save_contact(
                session, workspace_id, ContactInput(email), STRICT, CONSOLE, START
            )
        audience.create_property(session, workspace_id, PropertyInput("plan", "text"), ACTOR, START)
        before = counts(session, workspace_id)
    load(uow, workspace_id)
    with uow.begin() as session:
        assert demo.remove(session, workspace_id, START) == demo.Removed(29, 3)
    with uow.read() as session:
        assert counts(session, workspace_id) == before
        for row in (AutomationRun, AutomationStepRun, EmailSend):
            assert session.scalars(select(func.count()).select_from(row)).one() == 0


def test_requests_about_the_sample_go_with_it_and_others_stay(
    uow: UnitOfWork, workspace_id: int
) -> None:
    load(uow, workspace_id)
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        own = asking.draft(session, workspace_id, raw, START)
        kept = asking.ask(session, workspace_id, own, START)
        live = session.scalars(select(Automation).where(Automation.public_id != own)).first()
        assert live is not None
        seen = automations.current(session, workspace_id, live.public_id)
        assert seen is not None
        raw = {**seen.document, "name": "Changed"}
        asking.change(session, workspace_id, live.public_id, raw, START)
        asking.ask(session, workspace_id, live.public_id, START, PUBLISH)
    with uow.begin() as session:
        assert not isinstance(demo.remove(session, workspace_id, START), Refused)
    with uow.read() as session:
        assert session.scalars(select(Approval.public_id)).all() == [kept]


def test_removing_twice_or_without_a_load_is_harmless(uow: UnitOfWork, workspace_id: int) -> None:
    nothing = demo.Removed(0, 0)
    with uow.begin() as session:
        assert demo.remove(session, workspace_id, START) == nothing
    load(uow, workspace_id)
    with uow.begin() as session:
        assert demo.remove(session, workspace_id, START) != nothing
        assert demo.remove(session, workspace_id, START) == nothing


def test_what_a_person_took_away_already_is_no_obstacle(uow: UnitOfWork, workspace_id: int) -> None:
    load(uow, workspace_id)
    with uow.begin() as session:
        public_id = session.scalars(select(Contact.public_id).limit(1)).one()
        audience.delete_contact(session, workspace_id, public_id, ACTOR, START)
    with uow.begin() as session:
        assert demo.remove(session, workspace_id, START) == demo.Removed(29, 3)


def test_a_removed_sample_can_be_loaded_again(uow: UnitOfWork, workspace_id: int) -> None:
    for _round in range(2):
        load(uow, workspace_id)
        with uow.begin() as session:
            assert demo.remove(session, workspace_id, START) == demo.Removed(30, 3)


def test_a_sample_person_who_opted_out_begins_anew(uow: UnitOfWork, workspace_id: int) -> None:
    load(uow, workspace_id)
    with uow.begin() as session:
        public_id = session.scalars(select(Contact.public_id).order_by(Contact.id)).first()
        assert public_id is not None
        audience.opt_out(session, workspace_id, public_id, CONSOLE, START)
        assert demo.remove(session, workspace_id, START) == demo.Removed(30, 3)
        assert session.scalars(select(OptOut)).all() == []
    load(uow, workspace_id)
    with uow.read() as session:
        assert set(session.scalars(select(Contact.unsubscribed_at))) == {None}


def test_every_sample_address_is_reserved_and_its_own() -> None:
    addresses = [person.contact.email or "" for person in content.people()]
    assert all(address.endswith(".example") for address in addresses)
    assert len(set(addresses)) == len(addresses) == 30


def test_nothing_happened_to_a_person_before_it_was_there() -> None:
    for person, earlier in itertools.product(content.people(), ("trial", "subscribed")):
        age = getattr(person, earlier)
        assert age is None or timedelta(0) < age <= person.created < content.AUTOMATIONS_AGE


def test_what_comes_after_the_sample_has_nothing_of_it(
    house: House, uow: UnitOfWork, workspace_id: int, clock: FixedClock
) -> None:
    """SQLite gives the numbers of deleted rows away again: no graph, no mail may hang on them."""
    load(uow, workspace_id)
    with uow.begin() as session:
        # Real people walk through a sample automation and keep the mails they got by it.
        real = [people.contact(session, workspace_id) for _ in range(3)]
    for _day in range(10):
        house.steps.sweep()
        house.sends.sweep()
        clock.advance(timedelta(days=1))
    with uow.begin() as session:
        demo.remove(session, workspace_id, clock.now())
        assert session.scalars(select(func.count()).select_from(EmailSend)).one() > 0
        template = mails.template(session, workspace_id).public_id
        raw = making.document(*(making.email(f"m{place}", template) for place in range(9)))
        row = making.live(session, workspace_id, raw, clock.now())
        for _event in range(3):
            making.fire(session, workspace_id, real, clock.now())
    house.steps.sweep()
    with uow.read() as session:
        visits = session.execute(
            select(AutomationStepRun.step_key, EmailSend.contact_id, AutomationRun.contact_id)
            .join(AutomationRun, AutomationRun.id == AutomationStepRun.automation_run_id)
            .outerjoin(EmailSend, EmailSend.id == AutomationStepRun.email_send_id)
            .where(AutomationRun.automation_id == row.id)
        ).all()
    assert {key for key, _, _ in visits} == {f"m{place}" for place in range(9)}
    sent = [(key, receiver) for key, receiver, _ in visits if receiver is not None]
    assert sorted(sent) == [("m0", person.row_id) for person in real]
    assert all(receiver in (None, person) for _, receiver, person in visits)
