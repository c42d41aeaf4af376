"""A mail that is only shown is the mail that would leave, or says why there is none."""

from typing import Any

import pytest
from sqlalchemy import select

from engine.audience import queries as audience
from engine.core.clock import FixedClock
from engine.core.db import scope
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import SERVICE, SentMessage
from engine.delivery.service import Kept, PreviewedMail, Reader, enqueue_many, preview_mail
from engine.delivery.service.sends import SendRequest
from engine.delivery.walker import SendWalker
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories.delivery import LINKS
from tests.fakes.transports import ScriptedTransport
from tests.support.untouched import untouched

HTML = (
    "<p>{{ contact.first_name }} {{ contact.id }} {{ properties.seats | plus: 1 }}"
    "{% if properties.vip %} VIP{% endif %} {{ event.plan }} {{ workspace.name }}"
    ' {{ now | date: "%Y-%m-%d" }} {{ properties.gone }}</p>'
)


class House:
    """A workspace with one person, who has values of each type."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        with uow.begin() as session:
            self.workspace: int = accounts.workspace(session).id
            delivery.sender(session, self.workspace)
            for key, kind in (("seats", "number"), ("vip", "boolean"), ("plan", "text")):
                people.custom_property(session, self.workspace, key, kind)
            self.kim = people.contact(
                session,
                self.workspace,
                "kim@people.example",
                {"seats": 12, "vip": True, "plan": "pro"},
                first_name="Kim",
            )

    def template(self, **given: Any) -> int:
        with self.uow.begin() as session:
            return delivery.template(session, self.workspace, **given).row_id

    def request(self, template: int, **given: Any) -> SendRequest:
        return delivery.request(
            self.workspace,
            contact_id=self.kim.row_id,
            template_id=template,
            context={"event": {"plan": "gold"}},
            **given,
        )

    def shown(self, request: SendRequest) -> PreviewedMail:
        with untouched(self.uow), self.uow.read() as session:
            scope(session, self.workspace)
            row = audience.get_contact(session, self.workspace, self.kim.public_id)
            assert row is not None
            values = audience.property_values(session, self.workspace, [row.row_id])
            fields = {key: getattr(row, key) for key in ("email", "first_name", "last_name")}
            reader = Reader(
                {"id": row.public_id, **fields}, values[row.row_id], row.unsubscribed_at
            )
            return preview_mail(session, request, reader, self.clock.now(), LINKS, Kept())

    def sent(self, request: SendRequest) -> SentMessage:
        transport = ScriptedTransport()
        with self.uow.begin() as session:
            enqueue_many(session, [request], self.clock.now())
        SendWalker(self.uow, transport, LINKS).sweep()
        assert len(transport.letters) == 1
        with self.uow.read() as session:
            return session.scalars(select(SentMessage)).one()


@pytest.fixture
def place(uow: UnitOfWork, clock: FixedClock) -> House:
    """Return the workspace."""
    return House(uow, clock)


def test_what_is_shown_is_what_leaves(place: House) -> None:
    request = place.request(place.template(html=HTML), subject_override="Dear {{ event.plan }}")
    shown, sent = place.shown(request), place.sent(request)
    assert (shown.subject, shown.html, shown.text) == (sent.subject, sent.html, sent.text)
    assert shown.subject == "Dear gold"
    assert f"Kim {place.kim.public_id} 13 VIP gold Acme 2026-03-02" in shown.html
    assert shown.missing == ("properties.gone",)
    assert (shown.withheld, shown.flaw) == (None, None)


def test_a_link_in_it_ends_nobodys_mail(place: House) -> None:
    shown = place.shown(place.request(place.template(html="<p>{{ unsubscribe_url }}</p>")))
    assert LINKS.unsubscribe_preview() in shown.html


def test_service_mail_reaches_whom_marketing_does_not(place: House) -> None:
    template = place.template()
    with place.uow.begin() as session:
        people.suppression(session, place.workspace, "kim@people.example", "unengaged")
    assert place.shown(place.request(template)).withheld == "suppressed"
    assert place.shown(place.request(template, purpose=SERVICE)).withheld is None


def test_a_mail_that_cannot_be_made_says_which_part_and_why(place: House) -> None:
    inner = "{% for j in (1..event.many) %}x{% endfor %}"
    html = f"<p>{{% for i in (1..properties.seats) %}}{inner}{{% endfor %}}</p>"
    request = place.request(place.template(html=html))
    shown = place.shown(request._replace(context={"event": {"many": 9_000}}))
    assert shown.flaw is not None
    assert shown.flaw.startswith("html: ")
    assert (shown.subject, shown.html) == ("", "")
