"""The email step: one send row a visit, or the first thing that forbids it, in the seed's words."""

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.audience.queries import ContactRow
from engine.automations.models import Automation, AutomationStepRun
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.effects import DispatchSends
from engine.delivery.models import EmailSend, Sender, Template
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make
from tests.fakes.dispatch import RecordingDispatch


class Post:
    """A workspace that can send: template, sender, one person, one live automation."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock, self.walker = uow, clock, StepWalker(uow)
        with uow.begin() as session:
            self.workspace_id = accounts.workspace(session).id
            delivery.sender(session, self.workspace_id)
            template = delivery.template(session, self.workspace_id)
            self.person: ContactRow = audience.contact(session, self.workspace_id)
            step = make.email("hello", template.public_id)
            step["config"]["subject_override"] = "For {{ event.plan }}"
            raw = make.document(step, make.delay("wait"))
            self.automation: Automation = make.live(session, self.workspace_id, raw, clock.now())

    def visit(self) -> AutomationStepRun:
        with self.uow.begin() as session:
            make.fire(session, self.workspace_id, [self.person], self.clock.now(), plan="gold")
        self.walker.sweep()
        with self.uow.read() as session:
            return make.visits(session, make.runs(session, self.automation)[0])[0]


@pytest.fixture
def post(uow: UnitOfWork, clock: FixedClock) -> Post:
    return Post(uow, clock)


def test_a_visit_queues_one_mail_and_names_it(post: Post, dispatch: RecordingDispatch) -> None:
    visit = post.visit()
    assert visit.status == "completed"
    with post.uow.read() as session:
        [send] = session.scalars(select(EmailSend)).all()
    assert visit.email_send_id == send.id
    assert (send.status, send.kind, send.pool) == ("queued", "automation", "transactional")
    assert (send.to_email, send.subject_override) == (post.person.email, "For {{ event.plan }}")
    assert send.context == {"event": {"plan": "gold", "event_name": "go"}}
    assert [hint.send_ids for hint in dispatch.of(DispatchSends)] == [(send.id,)]


def _drop_template(session: Session, post: Post) -> None:
    session.execute(update(Template).values(deleted_at=post.clock.now()))


def _empty_template(session: Session, _post: Post) -> None:
    session.execute(update(Template).values(rendered_html=""))


def _drop_sender(session: Session, _post: Post) -> None:
    session.execute(update(Sender).values(is_default=False))


def _drop_address(session: Session, _post: Post) -> None:
    session.execute(update(Contact).values(email=None, external_id="x"))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_drop_template, "Email template not found"),
        (_empty_template, "Email template has no HTML content"),
        (
            _drop_sender,
            "Email sender not configured. Please set a default sender email in organization "
            "settings.",
        ),
        (_drop_address, "Contact has no email address"),
    ],
)
def test_what_forbids_a_mail_is_said_in_the_seed_s_words(
    post: Post, harm: object, message: str
) -> None:
    assert callable(harm)
    with post.uow.begin() as session:
        harm(session, post)
    visit = post.visit()
    assert (visit.status, visit.error_message) == ("executing", message)
    with post.uow.read() as session:
        assert session.scalars(select(EmailSend)).all() == []
