"""Counters: in the commit of what they count, spread over shards, never lost to a race."""

from threading import Barrier, Thread

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from engine.automations import counters, rollup
from engine.automations.models import SHARDS, Automation, AutomationStatShard, AutomationStepStat
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import automations as make

TRANSACTIONS = 60


def automation(uow: UnitOfWork, clock: FixedClock) -> Automation:
    """Return a live automation without runs."""
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        return make.live(session, workspace_id, make.document(make.end("done")), clock.now())


def entered(session: Session) -> int:
    """Return the sum over the shards."""
    return session.scalars(select(func.sum(AutomationStatShard.entered))).one()


def test_what_one_transaction_counts_is_one_row_of_each_table(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    row = automation(uow, clock)
    with uow.begin() as session:
        key = (row.workspace_id, row.id)
        counters.count_runs(session, key, counters.ENTERED, 3)
        counters.count_steps(session, [(*key, "done")] * 3, "pending")
        counters.count_steps(session, [(*key, "done")] * 2, "executing", "pending")
    with uow.read() as session:
        shards = session.scalars(select(AutomationStatShard)).all()
        assert [(shard.entered, shard.completed) for shard in shards] == [(3, 0)]
        (step,) = session.scalars(select(AutomationStepStat)).all()
        assert (step.step_key, step.pending, step.executing) == ("done", 1, 2)


def test_moves_that_cancel_out_write_nothing(uow: UnitOfWork, clock: FixedClock) -> None:
    row = automation(uow, clock)
    with uow.begin() as session:
        key = (row.workspace_id, row.id, "done")
        counters.count_step(session, key, "executing", "pending")
        counters.count_step(session, key, "pending", "executing")
    with uow.read() as session:
        assert session.scalars(select(AutomationStepStat)).all() == []


def test_a_run_that_a_person_revives_is_counted_back(uow: UnitOfWork, clock: FixedClock) -> None:
    row = automation(uow, clock)
    key = (row.workspace_id, row.id)
    for what, by in ((counters.ENTERED, 1), ("cancelled", 1), ("cancelled", -1)):
        with uow.begin() as session:
            counters.count_runs(session, key, what, by)
    with uow.read() as session:
        sums = select(func.sum(AutomationStatShard.cancelled), func.count())
        cancelled, shards = session.execute(sums).one()
        assert (cancelled, entered(session)) == (0, 1)
        assert shards >= 1
    rollup.sweep(uow)
    with uow.read() as session:
        assert session.scalars(select(Automation.stats_active)).one() == 1


def test_a_rollback_counts_nothing(uow: UnitOfWork, clock: FixedClock) -> None:
    row = automation(uow, clock)
    with uow.begin() as session:
        counters.count_runs(session, (row.workspace_id, row.id), counters.ENTERED)
        session.rollback()
    with uow.read() as session:
        assert session.scalars(select(AutomationStatShard)).all() == []


def test_many_writers_at_once_lose_nothing_and_use_several_shards(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    row = automation(uow, clock)
    writers, start = 4, Barrier(4)

    def count() -> None:
        start.wait(30)
        for _ in range(TRANSACTIONS // writers):
            with uow.begin() as session:
                counters.count_runs(session, (row.workspace_id, row.id), counters.ENTERED)

    threads = [Thread(target=count) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with uow.read() as session:
        assert entered(session) == TRANSACTIONS
        used = session.scalars(select(AutomationStatShard.shard)).all()
        assert 1 < len(used) <= SHARDS


def test_what_is_deleted_in_the_same_transaction_is_not_counted(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    row = automation(uow, clock)
    with uow.begin() as session:
        counters.count_runs(session, (row.workspace_id, row.id), counters.ENTERED)
        counters.count_step(session, (row.workspace_id, row.id, "done"), "pending")
        counters.forget(session, {row.id})
    with uow.read() as session:
        assert session.scalars(select(AutomationStatShard)).all() == []
        assert session.scalars(select(AutomationStepStat)).all() == []
