"""Sending: claim, hand over, settle, retry, lapse (facts 4.14, 4.15, decision C3)."""

from datetime import timedelta

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import queries, service
from engine.delivery.queries import SendDetail
from engine.delivery.walker import SendWalker
from tests.factories import accounts, audience, delivery
from tests.fakes.transports import ScriptedTransport


@pytest.fixture
def transport() -> ScriptedTransport:
    """Return the transport of `walker`."""
    return ScriptedTransport()


@pytest.fixture
def walker(uow: UnitOfWork, transport: ScriptedTransport) -> SendWalker:
    """Return a walker over the scripted transport."""
    return SendWalker(uow, transport)


def test_a_queued_send_leaves_and_keeps_its_message(
    uow: UnitOfWork, walker: SendWalker, transport: ScriptedTransport
) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        kim = audience.contact(session, workspace, "kim@people.example", first_name="Kim")
        template = delivery.template(session, workspace)
        wanted = delivery.request(workspace, contact_id=kim.row_id, template_id=template.row_id)
        ids = service.enqueue_many(session, [wanted], accounts.AT)
    assert walker.walk("transactional", list(ids.values())) == {"sent": 1}
    with uow.read(workspace) as session:
        (row,), _ = queries.page_sends(session, workspace)
        found = queries.get_send(session, workspace, row.public_id)
    assert isinstance(found, SendDetail)
    assert found.send.status == "sent"
    assert found.message is not None
    assert found.message.subject == "Hello Kim"
    assert "Hello Kim" in found.message.html
    assert found.send.message_id == f"<{row.public_id}@acme.example>"
    assert b"Hello Kim" in transport.letters[0].content


def test_a_sweep_sends_what_no_hint_led_to(
    uow: UnitOfWork, walker: SendWalker, clock: FixedClock
) -> None:
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        template = delivery.template(session, workspace)
        wanted = delivery.request(workspace, template_id=template.row_id)
        service.enqueue_many(session, [wanted], accounts.AT)
    assert walker.sweep()["sent"] == 1
    clock.advance(timedelta(seconds=1))
    assert walker.sweep()["sent"] == 0
