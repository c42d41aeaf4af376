"""Senders and domains: one default, each only once, every act audited."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.core.audit import AuditEntry
from engine.core.outcome import Refused
from engine.delivery import queries, service
from engine.delivery.queries import SenderRow
from engine.delivery.service import AttestedDomain, CreatedSender, SenderInput
from tests.factories import accounts, delivery

AT = accounts.AT
ACTOR = delivery.ACTOR


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace in the test's session."""
    return accounts.workspace(session).id


def create(session: Session, workspace: int, email: str, **given: Any) -> CreatedSender:
    made = service.create_sender(session, workspace, SenderInput(email, **given), ACTOR, AT)
    assert isinstance(made, CreatedSender), made
    return made


def test_the_first_sender_is_the_default(session: Session, workspace: int) -> None:
    first = create(session, workspace, " Team@Acme.example ", name=" Acme ")
    second = create(session, workspace, "other@acme.example")
    assert (first.sender.email, first.sender.name) == ("team@acme.example", "Acme")
    assert (first.sender.is_default, second.sender.is_default) == (True, False)
    assert queries.default_sender(session, workspace) == first.sender


def test_a_new_default_takes_the_place_of_the_old(session: Session, workspace: int) -> None:
    create(session, workspace, "one@acme.example")
    two = create(session, workspace, "two@acme.example", default=True).sender
    assert queries.default_sender(session, workspace) == two
    three = create(session, workspace, "three@acme.example").sender
    answer = service.set_default_sender(session, workspace, three.public_id, ACTOR, AT)
    assert isinstance(answer, SenderRow)
    assert answer.is_default
    rows, _ = queries.page_senders(session, workspace)
    assert [row.email for row in rows if row.is_default] == ["three@acme.example"]


def test_the_same_address_again_is_the_same_sender(session: Session, workspace: int) -> None:
    first = create(session, workspace, "team@acme.example", name="Acme")
    again = create(session, workspace, "TEAM@acme.example", name="Other", default=True)
    assert (first.created, again.created) == (True, False)
    assert again.sender == first.sender


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"email": "nobody"}, "/email"),
        ({"email": "a@acme.example\r\nBcc: b@acme.example"}, "/email"),
        ({"email": "a@acme.example\r\n"}, "/email"),
        ({"email": "a@acme.example", "reply_to": "b@acme.example\n"}, "/reply_to"),
        ({"email": "a@acme.example", "reply_to": "a b@acme.example"}, "/reply_to"),
        ({"email": "a@acme.example", "name": "Acme\nBcc: x"}, "/name"),
        ({"email": "a@acme.example", "name": "x" * 201}, "/name"),
    ],
)
def test_a_wrong_sender_is_refused(
    session: Session, workspace: int, given: dict[str, Any], pointer: str
) -> None:
    answer = service.create_sender(session, workspace, SenderInput(**given), ACTOR, AT)
    assert isinstance(answer, Refused)
    assert answer.problems[0].pointer == pointer


def test_a_sender_is_changed_and_deleted(session: Session, workspace: int) -> None:
    default = create(session, workspace, "team@acme.example").sender
    other = create(session, workspace, "other@acme.example").sender
    taken = SenderInput("team@acme.example")
    answer = service.update_sender(session, workspace, other.public_id, taken, ACTOR, AT)
    assert isinstance(answer, Refused)
    assert answer.problems[0].code == "sender_exists"
    wanted = SenderInput("new@acme.example", "New", "reply@acme.example", default=True)
    changed = service.update_sender(session, workspace, other.public_id, wanted, ACTOR, AT)
    assert isinstance(changed, SenderRow)
    assert (changed.email, changed.reply_to) == ("new@acme.example", "reply@acme.example")
    assert changed.is_default
    refused = service.delete_sender(session, workspace, other.public_id, ACTOR, AT)
    assert refused == Refused("sender_is_default")
    assert service.delete_sender(session, workspace, default.public_id, ACTOR, AT) is None
    assert queries.get_sender(session, workspace, default.public_id) is None


def test_another_workspace_reaches_no_sender(session: Session, workspace: int) -> None:
    sender = create(session, workspace, "team@acme.example").sender
    other = accounts.workspace(session, "Other").id
    missing = Refused("sender_not_found", "missing")
    args = (session, other, sender.public_id)
    assert service.set_default_sender(*args, ACTOR, AT) == missing
    assert service.delete_sender(*args, ACTOR, AT) == missing
    assert service.update_sender(*args, SenderInput("a@b.example"), ACTOR, AT) == missing
    assert create(session, other, "team@acme.example").created


def test_a_domain_is_attested_once_and_audited(session: Session, workspace: int) -> None:
    first = service.attest_domain(session, workspace, "Bücher.example", ACTOR, AT)
    again = service.attest_domain(session, workspace, "xn--bcher-kva.example.", ACTOR, AT)
    assert isinstance(first, AttestedDomain)
    assert isinstance(again, AttestedDomain)
    assert (first.created, again.created) == (True, False)
    assert first.domain == again.domain
    assert (first.domain.verified_by, first.domain.verified_at) == ("attest", AT)
    session.flush()
    actions = session.scalars(select(AuditEntry.action)).all()
    assert actions == ["sending_domain.attested"]


@pytest.mark.parametrize("domain", ["", "localhost", "a b.example", "-a.example", "a..example"])
def test_a_wrong_domain_is_refused(session: Session, workspace: int, domain: str) -> None:
    answer = service.attest_domain(session, workspace, domain, ACTOR, AT)
    assert isinstance(answer, Refused)
    assert answer.problems[0].pointer == "/domain"


def test_a_domain_is_deleted(session: Session, workspace: int) -> None:
    made = service.attest_domain(session, workspace, "acme.example", ACTOR, AT)
    assert isinstance(made, AttestedDomain)
    assert service.delete_domain(session, workspace, made.domain.public_id, ACTOR, AT) is None
    assert queries.page_domains(session, workspace) == ([], None)
    gone = service.delete_domain(session, workspace, made.domain.public_id, ACTOR, AT)
    assert gone == Refused("sending_domain_not_found", "missing")
