"""Just before a mail leaves: who was blocked or opted out meanwhile gets none; how to end mail."""

from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Final

import pytest
from sqlalchemy import update

from engine.accounts.models import Workspace
from engine.audience import service as audience
from engine.audience.inputs import API
from engine.audience.queries import ContactRow
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK
from engine.delivery.composing import RECIPIENT_SUPPRESSED
from engine.delivery.kinds.base import SERVER_ERROR, Rejected
from engine.delivery.models import MARKETING, SERVICE, EmailSend
from tests.engine.delivery.post import Post
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories.audience import ACTOR
from tests.factories.delivery import LINKS

BLOCKED: Final = "Recipient suppressed (blocklist) before dispatch"
OPTED_OUT: Final = "Recipient unsubscribed before dispatch"
KIM: Final = "kim@people.example"


@pytest.fixture
def kim(post: Post) -> ContactRow:
    with post.uow.begin() as session:
        return people.contact(session, post.workspace, KIM)


def opt_out(post: Post, who: ContactRow) -> None:
    with post.uow.begin() as session:
        audience.opt_out(
            session, post.workspace, who.public_id, PUBLIC_EMAIL_LINK, post.clock.now()
        )


def block(post: Post, email: str, reason: str = "bounced") -> None:
    with post.uow.begin() as session:
        at = post.clock.now()
        audience.suppress(session, post.workspace, email, API, ACTOR, at, reason)


def letters(post: Post) -> list[EmailMessage]:
    return [
        message_from_bytes(letter.content, policy=policy.default)
        for letter in post.transport.letters
    ]


def sent_to(post: Post) -> list[str]:
    return [letter.recipient for letter in post.transport.letters]


def test_uns_04_of_a_hundred_queued_mails_the_one_of_who_left_does_not_leave(post: Post) -> None:
    with post.uow.begin() as session:
        queued = [people.contact(session, post.workspace) for _ in range(100)]
    rows = [
        post.queue(contact_id=who.row_id, to_email=who.email, purpose=MARKETING)[0]
        for who in queued
    ]
    opt_out(post, queued[76])
    while post.walk():
        # The pool's rate is spent; the next second brings more.
        post.clock.advance(timedelta(seconds=1))
    assert sorted(sent_to(post)) == sorted(
        str(who.email) for who in queued if who.row_id != queued[76].row_id
    )
    assert len(post.transport.letters) == 99
    stopped = post.send(rows[76])
    assert (stopped.status, stopped.error_code, stopped.error_message) == (
        "failed",
        RECIPIENT_SUPPRESSED,
        OPTED_OUT,
    )
    assert stopped.handed_over_at is None
    assert {post.send(row).status for row in rows if row != rows[76]} == {"sent"}


@pytest.mark.parametrize(
    ("reason", "purpose", "leaves"),
    [
        ("bounced", MARKETING, False),
        ("bounced", SERVICE, False),
        ("complained", SERVICE, False),
        ("manual", SERVICE, False),
        ("unengaged", MARKETING, False),
        ("unengaged", SERVICE, True),
    ],
)
def test_an_address_blocked_while_its_mail_waited_gets_what_its_reason_allows(
    post: Post, kim: ContactRow, reason: str, purpose: str, leaves: bool
) -> None:
    (row,) = post.queue(contact_id=kim.row_id, to_email="Kim@People.example", purpose=purpose)
    block(post, KIM, reason)
    assert post.walk([row]) == ({"sent": 1} if leaves else {"failed": 1})
    send = post.send(row)
    assert len(post.transport.letters) == leaves
    assert (send.error_code, send.error_message) == (
        (None, None) if leaves else (RECIPIENT_SUPPRESSED, BLOCKED)
    )


def test_mail_without_a_contact_is_stopped_by_its_address(post: Post) -> None:
    (row,) = post.queue(to_email=KIM, purpose=SERVICE)
    block(post, KIM)
    assert post.walk([row]) == {"failed": 1}
    assert post.transport.letters == []


def test_a_block_in_another_workspace_stops_nothing(post: Post) -> None:
    with post.uow.begin() as session:
        other = accounts.workspace(session, "Other").id
        audience.suppress(session, other, KIM, API, ACTOR, post.clock.now())
    (row,) = post.queue(to_email=KIM)
    assert post.walk([row]) == {"sent": 1}


def test_service_mail_reaches_who_left_marketing(post: Post, kim: ContactRow) -> None:
    (row,) = post.queue(contact_id=kim.row_id, to_email=KIM, purpose=SERVICE)
    opt_out(post, kim)
    assert post.walk([row]) == {"sent": 1}


def test_a_retry_is_looked_at_again(post: Post, kim: ContactRow) -> None:
    (row,) = post.queue(contact_id=kim.row_id, to_email=KIM, purpose=MARKETING)
    post.transport.before.append(Rejected(SERVER_ERROR, "451 later", temporary=True))
    assert post.walk([row]) == {"retried": 1}
    opt_out(post, kim)
    post.clock.advance(timedelta(seconds=1))
    assert post.walk([row]) == {"failed": 1}
    assert post.send(row).error_message == OPTED_OUT


@pytest.mark.parametrize(("purpose", "ends"), [(MARKETING, True), (None, True), (SERVICE, False)])
def test_marketing_mail_says_how_to_end_it_and_service_mail_does_not(
    post: Post, kim: ContactRow, purpose: str | None, ends: bool
) -> None:
    text = "<a href='{{ unsubscribe_url }}'>out</a>"
    with post.uow.begin() as session:
        template = delivery.template(session, post.workspace, html=text).row_id
    (row,) = post.queue(contact_id=kim.row_id, to_email=KIM, purpose=purpose, template_id=template)
    if purpose is None:
        # As mail stands that was queued before mail had a purpose.
        with post.uow.begin() as session:
            session.execute(update(EmailSend).values(purpose=None))
    assert post.walk([row]) == {"sent": 1}
    (letter,) = letters(post)
    url = address(post, kim, post.send(row))
    assert letter["List-Unsubscribe"] == (f"<{url}>" if ends else None)
    assert letter["List-Unsubscribe-Post"] == ("List-Unsubscribe=One-Click" if ends else None)
    body: Any = letter.get_body(("html",))
    assert f"href='{url}'" in body.get_content() or f'href="{url}"' in body.get_content()


def test_mail_to_nobody_known_has_no_way_to_leave(post: Post) -> None:
    (row,) = post.queue(to_email=KIM, purpose=MARKETING)
    assert post.walk([row]) == {"sent": 1}
    assert letters(post)[0]["List-Unsubscribe"] is None


def address(post: Post, who: ContactRow, send: EmailSend) -> str:
    with post.uow.read() as session:
        workspace = session.get_one(Workspace, post.workspace).public_id
    return LINKS.unsubscribe(workspace, who.public_id, send.public_id)
