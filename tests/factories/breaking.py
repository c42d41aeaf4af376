"""An automation that its breaker has paused: people without an address at a mail step."""

from datetime import timedelta

from engine.audience.queries import ContactRow
from engine.automations.models import Automation
from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience, delivery
from tests.factories import automations as make

EVENT = "bad"
# Four executions: the first, and after 1, 5 and 30 seconds (facts 1.8).
TRIES = 4


def broken(
    uow: UnitOfWork, clock: FixedClock, workspace_id: int, people: int = 5
) -> tuple[Automation, list[ContactRow]]:
    """Return an automation whose every run failed for good, and its people in order of entry.

    From five people on the breaker has paused it.
    """
    walker = StepWalker(uow)
    with uow.begin() as session:
        delivery.sender(session, workspace_id)
        template = delivery.template(session, workspace_id, name="Reminder")
        raw = make.document(
            make.email("mail", template.public_id),
            make.delay("wait"),
            name="Broken",
            trigger={"type": "event_received", "config": {"event_name": EVENT}},
        )
        automation = make.live(session, workspace_id, raw, clock.now())
        everybody = [
            audience.contact(
                session, workspace_id, None, external_id=f"C-{number}", first_name=f"No{number}"
            )
            for number in range(people)
        ]
    for person in everybody:
        with uow.begin() as session:
            make.fire(session, workspace_id, [person], clock.now(), EVENT)
        for _ in range(TRIES):
            walker.sweep()
            clock.advance(timedelta(seconds=31))
    return automation, everybody
