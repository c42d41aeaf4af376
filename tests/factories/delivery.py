"""Templates, senders and queued mail for tests, made through delivery's own verbs."""

import itertools
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.core.audit import Actor
from engine.core.ids import new_public_id
from engine.core.machine import born
from engine.delivery import service
from engine.delivery.lifecycle import SENDS
from engine.delivery.links import Links
from engine.delivery.models import KIND_AUTOMATION, POOL_TRANSACTIONAL, EmailSend
from engine.delivery.queries import SenderRow, TemplateRow
from engine.delivery.service import CreatedSender, SenderInput, SendRequest, TemplateInput
from tests.factories.accounts import AT

ACTOR: Final = Actor("user:tester")
HTML: Final = "<p>Hello {{ contact.first_name }}</p>"
SENDER: Final = "team@acme.example"
LINKS: Final = Links("https://stellwerk.example", "the secret of the tests, long enough")
_NUMBERS: Final = itertools.count(1)


def template(session: Session, workspace_id: int, **given: Any) -> TemplateRow:
    """Return a new template; what is not said is a greeting by first name."""
    texts = {"name": "Welcome", "subject": "Hello {{ contact.first_name }}", **given}
    if "mjml" not in texts:
        texts.setdefault("html", HTML)
    row = service.create_template(session, workspace_id, TemplateInput(**texts), ACTOR, AT)
    assert isinstance(row, TemplateRow), row
    return row


def sender(session: Session, workspace_id: int, email: str = SENDER, **given: Any) -> SenderRow:
    """Return a sender of the workspace, its default one unless said otherwise."""
    sent = SenderInput(email, **{"name": "Acme", "default": True, **given})
    made = service.create_sender(session, workspace_id, sent, ACTOR, AT)
    assert isinstance(made, CreatedSender), made
    return made.sender


def send(session: Session, workspace_id: int, status: str, **columns: Any) -> EmailSend:
    """Return a send in any status, as if it had got there; nothing walks it."""
    row = EmailSend(
        **born(SENDS, status),
        **{
            "workspace_id": workspace_id,
            "public_id": new_public_id(),
            "kind": KIND_AUTOMATION,
            "pool": POOL_TRANSACTIONAL,
            "context": {},
            "to_email": "kim@people.example",
            "from_email": SENDER,
            "from_name": "Acme",
            "attempt": 0,
            "dedupe_key": f"made:{next(_NUMBERS)}",
            "queued_at": AT,
            "due_at": AT,
            **columns,
        },
    )
    session.add(row)
    session.flush()
    return row


def request(workspace_id: int, **given: Any) -> SendRequest:
    """Return a request for one mail; without a dedupe key it gets one of its own."""
    return SendRequest(
        **{
            "workspace_id": workspace_id,
            "dedupe_key": f"test:{next(_NUMBERS)}",
            "kind": KIND_AUTOMATION,
            "contact_id": None,
            "template_id": None,
            "to_email": "kim@people.example",
            "from_email": SENDER,
            "from_name": "Acme",
            **given,
        }
    )
