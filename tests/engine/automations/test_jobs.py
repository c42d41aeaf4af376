"""Acts on many runs: asked for, worked off page by page, stopped; a lost worker does none twice."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from engine.automations import job_walker
from engine.automations.job_walker import JobWalker
from engine.automations.models import AutomationRun, RunJob, RunJobItem
from engine.automations.pruning import forget_jobs, old_jobs
from engine.automations.queries import RunFilter, jobs
from engine.automations.queries.jobs import JobRow
from engine.automations.queries.run_rows import read_filter, write_filter
from engine.automations.service import RunAct, acting, bulk
from engine.core.clock import FixedClock
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.test_races import together
from tests.factories import automations as make
from tests.factories.acting import act, books, broken, mend
from tests.factories.world import World

PEOPLE = 30


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    return World(uow, clock, PEOPLE)


def ask(world: World, action: str, step: str | None = None, **wanted: object) -> str:
    with world.uow.begin() as session:
        asked = bulk.ask(
            session,
            world.workspace_id,
            RunFilter(**wanted),  # type: ignore[arg-type]
            RunAct(action, step, "all of them"),
            make.ACTOR,
            world.clock.now(),
        )
    assert not isinstance(asked, Refused), asked
    return asked.job_id


def job(world: World, job_id: str) -> JobRow:
    with world.uow.read() as session:
        found = jobs.get_job(session, world.workspace_id, job_id)
    assert found is not None
    return found


def statuses(world: World) -> Counter[str]:
    with world.uow.read() as session:
        return Counter(session.scalars(select(AutomationRun.status)).all())


def items(world: World, job_id: str) -> Counter[tuple[str, str | None]]:
    row = job(world, job_id)
    with world.uow.read() as session:
        found, _more = jobs.page_items(session, world.workspace_id, row.row_id, limit=200)
    return Counter((item.outcome, item.reason) for item in found)


def walk(world: World, page: int = 7) -> None:
    JobWalker(world.uow, page).sweep()
    books(world)


def test_a_job_acts_on_every_run_once_and_says_what_became_of_each(world: World) -> None:
    row = broken(world, make.delay("later", 2))
    mend(world)
    with world.uow.read() as session:
        first = make.runs(session, row)[0].public_id
    act(world, first, "retry")
    asked = ask(world, "retry")
    assert job(world, asked).status == "running"
    walk(world)
    done = job(world, asked)
    assert (done.status, done.total, done.done, done.refused) == ("done", PEOPLE, PEOPLE - 1, 1)
    assert done.finished_at == world.clock.now()
    assert items(world, asked) == Counter(
        {("done", None): PEOPLE - 1, ("refused", "nothing_failed"): 1}
    )
    assert statuses(world) == Counter(running=PEOPLE)
    walk(world)
    assert job(world, asked) == done


def test_a_cause_is_retried_as_one_and_leaves_the_list(world: World) -> None:
    row = broken(world, make.delay("later", 2))
    mend(world)
    cause = {"automation": row.public_id, "step": "mail", "error": "TEMPLATE_NOT_FOUND"}
    asked = ask(world, "retry", attention=True, **cause)
    walk(world)
    assert job(world, asked).done == PEOPLE
    with world.uow.begin() as session:
        again = bulk.ask(
            session, world.workspace_id, RunFilter(attention=True), RunAct("dismiss"), make.ACTOR,
            world.clock.now(),
        )  # fmt: skip
    assert again == Refused("nothing_matches")


def test_who_enters_after_the_job_was_asked_for_is_left_alone(world: World) -> None:
    world.walk_once(make.delay("wait", 1))
    asked = ask(world, "cancel")
    world.walk_once(make.delay("wait", 1))
    walk(world)
    assert job(world, asked).done == PEOPLE
    assert statuses(world) == Counter(cancelled=PEOPLE, running=PEOPLE)


def test_a_stop_leaves_alone_what_the_job_has_not_come_to(world: World) -> None:
    world.walk_once(make.delay("wait", 1))
    asked = ask(world, "cancel")
    walker = JobWalker(world.uow, 10)
    walker.walk([job(world, asked).row_id], timedelta(microseconds=1))
    assert job(world, asked).done in (0, 10)
    with world.uow.begin() as session:
        at = world.clock.now()
        stopped = bulk.stop(session, world.workspace_id, asked, make.ACTOR, at)
        again = bulk.stop(session, world.workspace_id, asked, make.ACTOR, at)
    assert stopped == Transitioned("running", "stopped")
    assert again == Recorded("stopped")
    before = statuses(world)
    walk(world)
    assert statuses(world) == before
    assert job(world, asked).status == "stopped"


def test_a_worker_that_is_lost_between_pages_leaves_the_rest_to_another(world: World) -> None:
    world.walk_once(make.delay("wait", 1))
    asked = ask(world, "cancel")
    lost = JobWalker(world.uow, 10)
    claimed = lost._claim(None)
    assert claimed is not None
    with world.uow.begin() as session:
        assert lost._do_page(session, claimed, job_walker._act, 10)
    walk(world)
    assert job(world, asked).done == 10
    world.clock.advance(timedelta(seconds=121))
    walk(world)
    with world.uow.begin() as session:
        assert not lost._do_page(session, claimed, job_walker._act, 10)
    done = job(world, asked)
    assert (done.status, done.done, done.refused) == ("done", PEOPLE, 0)
    assert items(world, asked) == Counter({("done", None): PEOPLE})


@pytest.mark.parametrize("page", [1, 7, 200])
def test_a_run_that_raises_is_left_out_and_the_rest_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    world.walk_once(make.delay("wait", 1))
    asked = ask(world, "cancel")
    with world.uow.read() as session:
        ids = list(session.scalars(select(AutomationRun.id).order_by(AutomationRun.id)))
    bad, tries = {ids[4], ids[5], ids[22]}, Counter[int]()
    really = acting.act_many

    def act_many(session: Session, workspace_id: int, run_ids: Sequence[int], *more: Any) -> Any:
        tries.update(run_ids)
        answers = really(session, workspace_id, run_ids, *more)
        if bad & set(run_ids):  # after writing, as a fault late in a page would
            raise ZeroDivisionError
        return answers

    monkeypatch.setattr(acting, "act_many", act_many)
    walk(world, page)
    done = job(world, asked)
    assert (done.status, done.done, done.refused, done.fault) == ("done", PEOPLE - 3, 3, None)
    assert items(world, asked) == Counter(
        {("done", None): PEOPLE - 3, ("refused", "act_raised"): 3}
    )
    assert statuses(world) == Counter(cancelled=PEOPLE - 3, running=3)
    assert max(tries.values()) <= 3


@pytest.mark.parametrize("where", ["read_filter", "page_ids"])
def test_a_job_that_raises_wherever_it_is_tried_ends_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    world.walk_once(make.delay("wait", 1))
    asked, other = ask(world, "cancel"), ask(world, "cancel")
    tries = []

    def raises(*asked: Any) -> Any:
        tries.append(asked)
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(job_walker, where, raises)
        walk(world)
    assert len(tries) == 6  # three for each of the two
    ended = job(world, asked)
    assert (ended.status, ended.done, ended.refused, ended.fault) == ("stopped", 0, 0, "job_raised")
    assert ended.finished_at is not None
    assert items(world, asked) == Counter()
    walk(world)  # nobody takes it up again
    assert job(world, other).fault == "job_raised"
    assert statuses(world) == Counter(running=PEOPLE)


def test_while_the_database_is_away_a_job_is_not_given_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.walk_once(make.delay("wait", 1))
    asked = ask(world, "cancel")
    walker = JobWalker(world.uow, 10)
    away = OperationalError("", {}, Exception("away"))

    def locked(*_asked: Any) -> Any:
        raise away

    with monkeypatch.context() as patched:
        patched.setattr(walker, "_locked", locked)
        with pytest.raises(OperationalError):
            walker.sweep()
    assert job(world, asked).status == "running"
    world.clock.advance(timedelta(seconds=121))
    walk(world)
    assert (job(world, asked).status, job(world, asked).done) == ("done", PEOPLE)


def test_two_workers_and_the_steps_walker_at_one_job_do_each_run_once(world: World) -> None:
    world.walk_once(make.delay("wait", 1), make.delay("more", 9))
    world.clock.advance(timedelta(days=1))
    asked = ask(world, "skip-step")
    together(
        JobWalker(world.uow, 5).sweep, JobWalker(world.uow, 5).sweep, partial(world.walker.sweep)
    )
    walk(world)
    done = job(world, asked)
    assert (done.status, done.done + done.refused) == ("done", PEOPLE)
    assert set(items(world, asked)) <= {("done", None), ("refused", "being_executed")}


def test_counting_writes_nothing_and_stops_at_its_bound(world: World) -> None:
    world.walk_once(make.delay("wait", 1))
    with world.uow.read() as session:
        place = world.workspace_id
        assert bulk.count(session, place, RunFilter()) == bulk.Counted(PEOPLE, capped=False)
        assert bulk.count(session, place, RunFilter(), most=9) == bulk.Counted(9, capped=True)
        assert bulk.count(session, place, RunFilter(step="wait")).number == PEOPLE
        assert bulk.count(session, place, RunFilter(step="gone")).number == 0
        assert session.scalar(select(func.count()).select_from(RunJob)) == 0


def test_a_filter_is_kept_as_it_was(clock: FixedClock) -> None:
    wanted = RunFilter("a", "c", "running", "s", clock.now(), clock.now(), "q", "e", True)
    assert read_filter(write_filter(wanted)) == wanted
    assert write_filter(RunFilter()) == {}


def test_old_jobs_are_forgotten_with_their_items_and_young_ones_stay(world: World) -> None:
    world.walk_once(make.delay("wait", 1))
    ask(world, "cancel")
    walk(world)
    world.clock.advance(timedelta(days=30))
    young = ask(world, "retry")
    walk(world)
    before = world.clock.now() - timedelta(days=1)
    with world.uow.begin() as session:
        doomed = old_jobs(session, world.workspace_id, before, 0)
        assert len(doomed.ids) == 1
        while forget_jobs(session, doomed.ids):
            pass
        assert session.scalars(select(RunJob.public_id)).all() == [young]
        assert session.scalar(select(func.count()).select_from(RunJobItem)) == PEOPLE
