"""A test mail: to a colleague, as a contact would read it, at nobody's expense."""

from typing import Any, Final

import pytest
from sqlalchemy import select, update

from engine.audience.models import Contact
from engine.core.audit import AuditEntry
from engine.core.outcome import Refused
from engine.delivery import service
from engine.delivery.models import EmailSend, SentMessage, Template
from engine.delivery.service import Queued, Withheld
from engine.delivery.service.trying import send_test
from tests.engine.delivery.post import Post
from tests.factories import audience, delivery

ME: Final = "ada@acme.example"
HTML: Final = '<p>Hello {{ contact.first_name }}</p><a href="{{ unsubscribe_url }}">Out</a>'


@pytest.fixture
def template(post: Post) -> str:
    """Return a marketing template with a way out, in a workspace that can send."""
    with post.uow.begin() as session:
        delivery.sender(session, post.workspace)
        return delivery.template(session, post.workspace, html=HTML).public_id


def _send(post: Post, template: str, contact: str | None = None) -> Queued | Withheld | Refused:
    with post.uow.begin() as session:
        return send_test(
            session, post.workspace, template, ME, contact, delivery.ACTOR, post.clock.now()
        )


def _message(post: Post) -> Any:
    with post.uow.read() as session:
        return session.scalars(select(SentMessage).order_by(SentMessage.id.desc())).first()


def test_a_test_mail_reads_like_the_contacts_and_bears_no_way_out_of_theirs(
    post: Post, template: str
) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example", first_name="Kim")
        session.execute(update(Contact).values(unsubscribed_at=post.clock.now()))
    sent = _send(post, template, kim.public_id)
    assert isinstance(sent, Queued)
    assert post.walk() == {"sent": 1}
    row, message = post.send(sent.row_id), _message(post)
    assert (row.to_email, row.kind, row.status) == (ME, "test", "sent")
    assert "Hello Kim" in message.html
    assert delivery.LINKS.unsubscribe_preview() in message.html
    assert kim.public_id not in message.html
    assert "List-Unsubscribe" not in message.headers


def test_a_test_mail_leaves_the_contacts_limits_alone(post: Post, template: str) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example", first_name="Kim")
        row_id = session.scalars(select(Template.id).where(Template.public_id == template)).one()
    for _ in range(2):
        assert isinstance(_send(post, template, kim.public_id), Queued)
    with post.uow.begin() as session:
        real = delivery.request(post.workspace, contact_id=kim.row_id, template_id=row_id)
        answer = service.request_many(session, [real], post.clock.now())[real.dedupe_key]
    assert isinstance(answer, Queued)


def test_a_test_mail_is_audited_and_a_suppressed_address_gets_none(
    post: Post, template: str
) -> None:
    assert isinstance(_send(post, template), Queued)
    with post.uow.begin() as session:
        line = session.scalars(
            select(AuditEntry).where(AuditEntry.action == "template.tested")
        ).one()
        assert (line.resource_id, line.details) == (template, {"to": ME})
        audience.suppression(session, post.workspace, ME)
    assert _send(post, template) == Withheld("suppressed")


def test_what_is_not_there_is_refused(post: Post, template: str) -> None:
    assert _send(post, "nothing") == Refused("template_not_found", "missing")
    assert _send(post, template, "nobody") == Refused("contact_not_found", "missing")
    with post.uow.read() as session:
        assert session.scalars(select(EmailSend)).all() == []


def test_without_a_sender_nothing_is_queued(post: Post) -> None:
    with post.uow.begin() as session:
        template = delivery.template(session, post.workspace).public_id
    assert _send(post, template) == Refused("no_sender")
