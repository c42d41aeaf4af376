"""An opt-out belongs to the address: whoever gets it after a deletion has opted out as well."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from engine import pruning
from engine.audience import queries, service
from engine.audience.addresses import opt_out_hash
from engine.audience.inputs import (
    API,
    IMPORT,
    MERGE,
    STRICT,
    UPSERT,
    ContactInput,
    ContactPatch,
    EventInput,
)
from engine.audience.models import Contact, OptOut
from engine.audience.queries import ContactRow
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK, OptedOut, opt_out
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.support.waiting import wait_for

KIM = "kim@people.example"
THEN = AT + timedelta(days=1)
LATER = AT + timedelta(days=2)
Door = Callable[[Session, int], object]


def leave(session: Session, workspace: int, person: ContactRow) -> None:
    answer = opt_out(session, workspace, person.public_id, PUBLIC_EMAIL_LINK, THEN)
    assert isinstance(answer, OptedOut)


def delete(session: Session, workspace: int, person: ContactRow) -> None:
    answer = service.delete_contact(session, workspace, person.public_id, make.ACTOR, THEN)
    assert answer is None


def since(session: Session, workspace: int, email: str = KIM) -> datetime | None:
    """Return since when the live contact with this address has opted out."""
    row = queries.find_by_email(session, workspace, email)
    assert row is not None
    return row.unsubscribed_at


def gone(session: Session, workspace: int, *, opted_out: bool = True) -> ContactRow:
    """Return Kim, who was a contact and is deleted."""
    kim = make.contact(session, workspace, KIM)
    if opted_out:
        leave(session, workspace, kim)
    delete(session, workspace, kim)
    return kim


def by_api(session: Session, workspace: int) -> object:
    sent = ContactInput(email="Kim@People.example")
    return service.save_contact(session, workspace, sent, STRICT, API, LATER)


def by_upsert(session: Session, workspace: int) -> object:
    return service.save_contact(session, workspace, ContactInput(KIM), UPSERT, API, LATER)


def by_import(session: Session, workspace: int) -> object:
    sent = [ContactInput("first@people.example"), ContactInput(KIM), ContactInput(None, "x-1")]
    return service.save_contacts(session, workspace, sent, MERGE, IMPORT, LATER)


def by_event(session: Session, workspace: int) -> object:
    sent = EventInput("signed_up", KIM, create_contact_if_not_exists=True)
    return service.receive_event(session, workspace, sent, API, LATER)


def by_change(session: Session, workspace: int) -> object:
    other = make.contact(session, workspace)
    patch = ContactPatch({"email": KIM})
    return service.update_contact(session, workspace, other.public_id, patch, API, LATER)


def by_merge(session: Session, workspace: int) -> object:
    make.contact(session, workspace, "old@people.example", external_id="x-1")
    sent = ContactPatch({"email": KIM})
    row = queries.find_by_email(session, workspace, "old@people.example")
    assert row is not None
    return service.update_contacts(session, workspace, {row.row_id: sent}, API, LATER)


@pytest.mark.parametrize("door", [by_api, by_upsert, by_import, by_event, by_change, by_merge])
def test_who_comes_back_under_an_address_that_opted_out_has_opted_out(
    session: Session, workspace: int, door: Door
) -> None:
    gone(session, workspace)
    door(session, workspace)
    assert since(session, workspace) == THEN


@pytest.mark.parametrize("door", [by_api, by_import, by_change])
def test_who_comes_back_without_having_opted_out_gets_mail(
    session: Session, workspace: int, door: Door
) -> None:
    gone(session, workspace, opted_out=False)
    door(session, workspace)
    assert since(session, workspace) is None


def test_others_of_the_batch_and_other_workspaces_are_left_alone(
    session: Session, workspace: int
) -> None:
    other = accounts.workspace(session, "Other").id
    gone(session, workspace)
    by_import(session, workspace)
    by_import(session, other)
    assert since(session, workspace, "first@people.example") is None
    assert since(session, other) is None


def test_a_subscription_takes_it_back_and_the_next_contact_is_free_too(
    session: Session, workspace: int
) -> None:
    gone(session, workspace)
    back, topic = make.contact(session, workspace, KIM), make.topic(session, workspace)
    assert since(session, workspace) == THEN
    service.subscribe(session, workspace, topic.public_id, back.public_id, API, LATER)
    assert since(session, workspace) is None
    delete(session, workspace, back)
    by_api(session, workspace)
    assert since(session, workspace) is None


def test_a_subscription_that_still_waits_for_its_confirmation_takes_nothing_back(
    session: Session, workspace: int
) -> None:
    gone(session, workspace)
    back = make.contact(session, workspace, KIM)
    topic = make.topic(session, workspace, require_double_opt_in=True)
    service.subscribe(session, workspace, topic.public_id, back.public_id, API, LATER)
    assert since(session, workspace) == THEN


def test_the_link_of_an_older_contact_counts_for_who_comes_back_later(
    session: Session, workspace: int
) -> None:
    first = gone(session, workspace, opted_out=False)
    gone(session, workspace, opted_out=False)
    leave(session, workspace, first)
    by_api(session, workspace)
    assert since(session, workspace) == THEN


def test_a_changed_address_leaves_the_opt_out_with_both(session: Session, workspace: int) -> None:
    kim = make.contact(session, workspace, KIM)
    leave(session, workspace, kim)
    patch = ContactPatch({"email": "new@people.example"})
    service.update_contact(session, workspace, kim.public_id, patch, API, LATER)
    by_api(session, workspace)
    assert since(session, workspace) == THEN
    delete(session, workspace, kim)
    make.contact(session, workspace, "new@people.example")
    assert since(session, workspace, "new@people.example") == THEN


def test_the_mark_outlives_the_purge_and_names_nobody(uow: UnitOfWork, clock: FixedClock) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        clock.advance(THEN - clock.now())
        gone(session, workspace)
    clock.advance(timedelta(days=31))
    assert pruning.purge(uow) == {"contacts": 1}
    with uow.begin(workspace) as session:
        assert session.scalars(select(Contact)).all() == []
        (kept,) = session.scalars(select(OptOut)).all()
        assert (kept.opted_out_at, len(kept.address_hash)) == (THEN, 32)
        assert "kim" not in kept.address_hash
        by_api(session, workspace)
        assert since(session, workspace) == THEN
        back, topic = queries.find_by_email(session, workspace, KIM), make.topic(session, workspace)
        assert back is not None
        service.subscribe(session, workspace, topic.public_id, back.public_id, API, LATER)
        assert session.scalars(select(OptOut)).all() == []


def test_one_address_is_known_by_another_mark_in_each_workspace() -> None:
    assert opt_out_hash(1, KIM) == opt_out_hash(1, KIM)
    assert len({opt_out_hash(1, KIM), opt_out_hash(2, KIM), opt_out_hash(1, f"x{KIM}")}) == 3


def test_who_takes_an_address_over_keeps_an_earlier_opt_out_of_their_own(
    session: Session, workspace: int
) -> None:
    gone(session, workspace)
    ada = make.contact(session, workspace)
    opt_out(session, workspace, ada.public_id, API, AT)
    patch = ContactPatch({"email": KIM})
    service.update_contact(session, workspace, ada.public_id, patch, API, LATER)
    assert since(session, workspace) == AT


def test_an_old_link_that_is_followed_while_its_person_comes_back_finds_them(
    uow: UnitOfWork,
) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        kim = gone(session, workspace, opted_out=False)

    def click() -> None:
        with uow.begin(workspace) as session:
            leave(session, workspace, kim)

    def waits() -> bool:
        if uow.database.engine.dialect.name == "sqlite":
            return True  # one writes at a time there
        blocked = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        with uow.read() as session:
            return bool(session.scalar(blocked))

    with ThreadPoolExecutor(1) as thread:
        with uow.begin(workspace) as session:
            by_api(session, workspace)
            clicked = thread.submit(click)
            wait_for(waits, "the click to wait")
        clicked.result(60)
    with uow.read(workspace) as session:
        assert since(session, workspace) == THEN
