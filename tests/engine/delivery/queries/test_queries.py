"""Reads of delivery, in sessions scoped to one workspace as the web has them."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from engine.core.unit_of_work import UnitOfWork
from engine.delivery import queries, service
from engine.delivery.kinds.base import INVALID_RECIPIENT, Rejected
from engine.delivery.kinds.outbox import KEPT
from tests.engine.delivery.post import Post
from tests.factories import accounts, audience, delivery


def statements(uow: UnitOfWork) -> list[str]:
    """Return the list that every statement of the database is added to from now on."""
    seen: list[str] = []

    def add(*given: object) -> None:
        seen.append(str(given[2]))

    event.listen(uow.database.engine, "before_cursor_execute", add)
    return seen


def test_mail_facts_are_two_queries_for_any_batch(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspaces = [accounts.workspace(session, name).id for name in ("A", "B")]
        first = [delivery.template(session, workspaces[0], name=f"t{n}") for n in range(3)]
        other = delivery.template(session, workspaces[1], html="", purpose="service")
        gone = first.pop()
        service.delete_template(session, workspaces[0], gone.public_id, delivery.ACTOR, accounts.AT)
        delivery.sender(session, workspaces[0])
    keys = [(workspaces[0], row.public_id) for row in [*first, gone]]
    keys += [(workspaces[1], other.public_id), (workspaces[1], first[0].public_id)]
    seen = statements(uow)
    with uow.read() as session:
        facts = queries.mail_facts(session, keys)
    assert len([text for text in seen if text.startswith("SELECT")]) == 2
    assert set(facts.templates) == {*keys[:2], (workspaces[1], other.public_id)}
    assert [facts.templates[key].has_html for key in (keys[0], keys[3])] == [True, False]
    assert facts.templates[keys[3]].purpose == "service"
    assert list(facts.senders) == [workspaces[0]]
    assert facts.senders[workspaces[0]].email == delivery.SENDER
    with uow.read(workspaces[0]) as session:
        mine = queries.mail_facts(session, keys)
        assert queries.mail_facts(session, []) == queries.MailFacts({}, {})
    assert set(mine.templates) == set(keys[:2])


def test_names_of_templates_come_at_once_and_from_one_workspace(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        mine, other = (accounts.workspace(session, name).id for name in ("A", "B"))
        rows = [delivery.template(session, owner, name=f"of {owner}") for owner in (mine, other)]
    with uow.read(mine) as session:
        names = queries.template_names(session, mine, [row.public_id for row in rows])
        assert queries.template_names(session, mine, []) == {}
    assert names == {rows[0].public_id: f"of {mine}"}


@pytest.mark.parametrize("what", ["templates", "senders", "domains"])
def test_lists_page_by_keyset(uow: UnitOfWork, what: str) -> None:
    with uow.begin() as session:
        mine, other = (accounts.workspace(session, name).id for name in ("A", "B"))
        for owner in (mine, other):
            for number in range(5):
                delivery.template(session, owner, name=f"t{number}")
                delivery.sender(session, owner, f"s{number}@acme.example", default=False)
                service.attest_domain(
                    session, owner, f"d{number}.example", delivery.ACTOR, accounts.AT
                )
    page = getattr(queries, f"page_{what}")
    with uow.read(mine) as session:
        first, after = page(session, mine, limit=3)
        second, end = page(session, mine, after=after, limit=3)
        unknown, _ = page(session, mine, after="nonsense", limit=3)
    assert [len(first), len(second), end] == [3, 2, None]
    ids = [row.row_id for row in [*first, *second]]
    assert ids == sorted(ids, reverse=True)
    assert unknown == first


def test_sends_are_found_by_person_status_kind_and_message(post: Post) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example")
    failed, sent = post.queue(2, contact_id=kim.row_id)
    (queued,) = post.queue(kind="test")
    post.transport.before = [Rejected(INVALID_RECIPIENT, "550", temporary=False)]
    post.walk([failed, sent])
    message_id = post.send(sent).message_id or ""

    def found(**filters: Any) -> list[int]:
        with post.uow.read(post.workspace) as session:
            rows, _ = queries.page_sends(session, post.workspace, **filters)
        return [row.row_id for row in rows]

    assert found() == [queued, sent, failed]
    assert found(contact=kim.public_id) == [sent, failed]
    assert found(contact="nobody") == []
    assert found(status="failed") == [failed]
    assert found(kind="test") == [queued]
    assert found(message_id=message_id) == found(message_id=message_id[1:-1]) == [sent]


def test_a_send_is_shown_with_its_message_once_there_is_one(post: Post) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example")
    sent, queued = *post.queue(contact_id=kim.row_id), *post.queue()
    post.walk([sent])
    with post.uow.read(post.workspace) as session:
        detail = queries.get_send(session, post.workspace, post.send(sent).public_id)
        waiting = queries.get_send(session, post.workspace, post.send(queued).public_id)
        rows = queries.sends_by_row_id(session, post.workspace, [sent, queued])
        assert queries.sends_by_row_id(session, post.workspace, []) == {}
    assert detail is not None
    assert detail.message is not None
    assert detail.message.html == "<p>Hello </p>"
    assert (detail.send.contact, detail.send.template_name) == (kim.public_id, "Welcome")
    assert waiting is not None
    assert waiting.message is None
    assert rows == {sent: detail.send, queued: waiting.send}


def test_another_workspace_sees_no_send(post: Post) -> None:
    with post.uow.begin() as session:
        other = accounts.workspace(session, "Other").id
    (row_id,) = post.queue()
    with post.uow.read(other) as session:
        assert queries.page_sends(session, other) == ([], None)
        assert queries.get_send(session, other, post.send(row_id).public_id) is None
        assert queries.sends_by_row_id(session, other, [row_id]) == {}


def test_a_person_s_story_tells_of_queued_sent_kept_and_failed_mail(post: Post) -> None:
    with post.uow.begin() as session:
        kim = audience.contact(session, post.workspace, "kim@people.example", first_name="Kim")
    ids = post.queue(3, contact_id=kim.row_id)
    post.clock.advance(timedelta(seconds=1))
    post.transport.before = [None, Rejected(INVALID_RECIPIENT, "550 nobody", temporary=False)]
    post.transport.replies = ["250 taken", KEPT]
    post.walk(ids)
    with post.uow.read(post.workspace) as session:
        lines = queries.story(session, post.workspace, kim.row_id)
        first = queries.story(session, post.workspace, kim.row_id, limit=2)
        rest = queries.story(session, post.workspace, kim.row_id, before=first[-1].place)
    assert [line.title_code for line in lines] == [
        *("send_kept", "send_failed", "send_sent"),
        *("send_queued", "send_queued", "send_queued"),
    ]
    assert lines[1].params == {
        "to": "kim@people.example",
        "kind": "automation",
        "template": "Welcome",
        "code": INVALID_RECIPIENT,
        "reply": "550 nobody",
    }
    assert lines[2].params["subject"] == "Hello Kim"
    assert first + rest == lines
    assert all(line.ref for line in lines)


def test_templates_to_choose_from_are_the_newest_that_are_not_deleted(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        here, elsewhere = (accounts.workspace(session, name).id for name in ("A", "B"))
        made = [delivery.template(session, here, name=name) for name in ("One", "Two", "Three")]
        delivery.template(session, elsewhere, name="Foreign")
        at = accounts.AT
        service.delete_template(session, here, made[1].public_id, audience.ACTOR, at)
        found = queries.newest_names(session, here, 5)
        assert found == [(made[2].public_id, "Three"), (made[0].public_id, "One")]
        assert queries.newest_names(session, here, 1) == found[:1]
