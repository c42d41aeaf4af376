"""What a shorter retention would take: the numbers of the page are those of the night."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from engine import pruning
from engine.accounts.models import Workspace
from engine.automations.models import Automation
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.pruning import Doomed, Loss
from tests.engine.pruning.forgetting import sent
from tests.factories import automations as make
from tests.factories.world import World


def coming_night(world: World, days: int, most: int = 100) -> Loss:
    """Return what the next night would take with `days` kept."""
    with world.uow.read() as session:
        return pruning.coming_night(session, world.workspace_id, days, world.clock.now(), most)


def link_mail(world: World, automation: Automation) -> None:
    """Let the first visit of the run have asked for a mail."""
    with world.uow.begin() as session:
        run = make.runs(session, automation)[0]
        visit = make.visits(session, run)[0]
        visit.email_send_id = sent(session, world, run.contact_id).id


def test_what_is_announced_is_what_goes(world: World, uow: UnitOfWork, clock: FixedClock) -> None:
    link_mail(world, world.walk_once(make.end("a")))
    waiting = world.live(make.delay("wait", 90, "days"), make.end("last"))
    world.fire()
    link_mail(world, waiting)
    clock.advance(timedelta(days=20))
    loss = coming_night(world, days=10)
    assert (loss.runs, loss.sends) == (Doomed(1, more=False), Doomed(1, more=False))
    with uow.begin() as session:
        session.execute(update(Workspace).values(retention_days=10))
    clock.set(loss.before + timedelta(days=10))
    done = pruning.retention(uow)
    announced = (loss.runs.count, loss.sends.count, loss.events.count)
    assert (done["runs"], done["sends"], done["events"]) == announced


def test_the_night_is_the_next_one_and_counting_has_an_end(world: World, clock: FixedClock) -> None:
    for name in "abc":
        world.walk_once(make.end(name))
    clock.set(datetime(2026, 5, 20, 3, 9, tzinfo=UTC))
    assert coming_night(world, days=7).before == datetime(2026, 5, 13, 3, 10, tzinfo=UTC)
    clock.set(datetime(2026, 5, 20, 3, 10, tzinfo=UTC))
    loss = coming_night(world, days=7, most=2)
    assert loss.before == datetime(2026, 5, 14, 3, 10, tzinfo=UTC)
    assert loss.runs == Doomed(2, more=True)
