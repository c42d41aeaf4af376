"""Acts of a person on runs in a walker's world, and a step that fails for good."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import update

from engine.automations.act_judging import RunAct
from engine.automations.models import Automation
from engine.automations.service import acting
from engine.automations.service.acting import Done
from engine.core.outcome import Refused
from engine.delivery import service as mails
from engine.delivery.models import Template
from tests.factories import automations as make
from tests.factories import delivery
from tests.factories.books import assert_books
from tests.factories.world import World

MINUTE: Final = timedelta(minutes=1)


def act(
    world: World, public_id: str, action: str, step: str | None = None, *, open_end: bool = False
) -> Done | Refused:
    """Do something to a run, and find the books right after it.

    open_end: a worker is still to take note that the run has ended, as after any Stop.
    """
    wanted = RunAct(action, step, "because")
    with world.uow.begin() as session:
        done = acting.act(
            session, world.workspace_id, public_id, wanted, make.ACTOR, world.clock.now()
        )
    if not open_end:
        books(world)
    return done


def breaking(world: World, *behind: dict[str, Any], **more: Any) -> Automation:
    """Return a live automation whose first step, `mail`, fails: its template was deleted since."""
    at = world.clock.now()
    with world.uow.begin() as session:
        delivery.sender(session, world.workspace_id)
        template = delivery.template(session, world.workspace_id).public_id
        raw = make.document(make.email("mail", template), *behind, **more)
        row = make.live(session, world.workspace_id, raw, at)
        gone = mails.delete_template(session, world.workspace_id, template, make.ACTOR, at)
    assert not isinstance(gone, Refused), gone
    return row


def fail(world: World, tries: int = 4) -> None:
    """Walk what is due so often that a step without a template has failed for good."""
    for _try in range(tries):
        world.walker.sweep()
        world.clock.advance(MINUTE)


def broken(world: World, *behind: dict[str, Any], **more: Any) -> Automation:
    """Return an automation whose first step has failed for good for everybody."""
    row = breaking(world, *behind, **more)
    world.fire()
    fail(world)
    return row


def mend(world: World) -> None:
    """Bring every deleted template back, and let whatever the breaker paused be active again."""
    with world.uow.begin() as session:
        session.execute(update(Template).values(deleted_at=None))
        again = {"status": "active", "paused_at": None, "consecutive_run_failures": 0}
        session.execute(update(Automation).values(again))


def many(world: World, ids: Sequence[int], wanted: RunAct) -> Mapping[int, Done | Refused]:
    """Do the same to many runs, and find the books right after it."""
    with world.uow.begin() as session:
        done = acting.act_many(
            session, world.workspace_id, ids, wanted, make.ACTOR, world.clock.now()
        )
    books(world)
    return done


def books(world: World) -> None:
    """Fail where statuses, counters and the log disagree."""
    with world.uow.read() as session:
        assert_books(session)
