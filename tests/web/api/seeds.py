"""One of everything in a workspace, so that every address of the API has something to answer."""

from typing import Any, Final

from sqlalchemy import select

from engine.audience.models import Contact
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import POOL_TRANSACTIONAL, EmailSend, SentMessage
from tests.factories.accounts import AT
from tests.web.api.support import Program

DOCUMENT: Final[dict[str, Any]] = {
    "name": "Trial",
    "trigger": {"type": "event_received", "config": {"event_name": "trial_started"}},
    "steps": [{"key": "wait", "type": "delay", "config": {"duration": 1, "unit": "days"}}],
}
TEMPLATE: Final = {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>"}
EVENT: Final = {"email": "ada@people.example", "event_name": "trial_started"}


def plant(shop: Program, uow: UnitOfWork) -> dict[str, str]:
    """Return the id of one thing of each area, by the area's name in addresses."""
    contact = shop.made("/contacts", {"email": "ada@people.example", "first_name": "Ada"})["id"]
    topic = shop.made("/topics", {"name": "News", "require_double_opt_in": False})["id"]
    joined = shop.call("PUT", f"/topics/{topic}/members/{contact}")
    assert joined.status_code == 200, joined.text
    automation = shop.made("/automations", DOCUMENT)["id"]
    moved = shop.post(f"/automations/{automation}/transitions", {"to": "active"})
    assert moved.status_code == 200, moved.text
    assert shop.made("/events", EVENT)["triggered_automations"] == 1
    draft = shop.made("/automations", {**DOCUMENT, "name": "Asked for"})["id"]
    asked = shop.made("/approvals", {"kind": "automation.activate", "resource_id": draft})
    return {
        "approvals": asked["id"],
        "contacts": contact,
        "topics": topic,
        "properties": shop.made("/properties", {"key": "plan", "type": "text"})["id"],
        "templates": shop.made("/templates", TEMPLATE)["id"],
        "senders": shop.made("/senders", {"email": "shop@acme.example"})["id"],
        "sending-domains": shop.made(
            "/sending-domains", {"domain": "mail.acme.example", "verify": "attest"}
        )["id"],
        "automations": automation,
        "suppressions": shop.made("/suppressions", {"email": "gone@people.example"})["id"],
        "runs": shop.get("/runs").json["items"][0]["id"],
        "sends": _sent(uow, contact),
    }


def _sent(uow: UnitOfWork, contact_id: str) -> str:
    """Return the id of a mail that was sent to the contact."""
    with uow.begin() as session:
        person = session.scalars(select(Contact).where(Contact.public_id == contact_id)).one()
        send = EmailSend(
            public_id="sentmailofthetests1234",
            workspace_id=person.workspace_id,
            kind="automation",
            pool=POOL_TRANSACTIONAL,
            contact_id=person.id,
            context={},
            to_email=person.email,
            from_email="shop@acme.example",
            from_name="Shop",
            status="sent",
            dedupe_key="a mail of the tests",
            queued_at=AT,
            due_at=AT,
            sent_at=AT,
        )
        session.add(send)
        session.flush()
        session.add(
            SentMessage(
                workspace_id=person.workspace_id,
                send_id=send.id,
                subject="Hello",
                html="<p>Hello</p>",
                text="Hello",
                headers="Subject: Hello",
                created_at=AT,
            )
        )
        return send.public_id
