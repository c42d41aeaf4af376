"""Moves at the same moment: one acts, the others find it done; audit and events tell it once."""

import threading

import pytest
from sqlalchemy import func, select

from engine.automations import service
from engine.automations.models import ACTIVE, DRAFT, PAUSED, AutomationRevision
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.outbox import ProductEvent
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import automations as make

PATHS = {DRAFT: [], ACTIVE: [ACTIVE], PAUSED: [ACTIVE, PAUSED]}


@pytest.mark.parametrize(("before", "after"), [(DRAFT, ACTIVE), (ACTIVE, PAUSED), (PAUSED, ACTIVE)])
def test_of_equal_moves_at_once_one_acts(
    uow: UnitOfWork, clock: FixedClock, before: str, after: str
) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        raw = make.document(make.delay("a"), on_pause="hold")
        saved = service.create(session, workspace_id, raw, make.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
        place = (workspace_id, saved.public_id)
        for step in PATHS[before]:
            service.move(session, *place, service.Wish(step), make.ACTOR, clock.now())
    with uow.read() as session:
        events = session.scalar(select(func.count()).select_from(ProductEvent)) or 0
        lines = session.scalar(select(func.count()).select_from(AuditEntry)) or 0
    barrier = threading.Barrier(6)
    outcomes: list[Transitioned | Recorded | Refused] = []

    def act() -> None:
        barrier.wait()
        with uow.begin() as inner:
            wish = service.Wish(after)
            outcomes.append(service.move(inner, *place, wish, make.ACTOR, clock.now()))

    threads = [threading.Thread(target=act) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(Transitioned(before, after)) == 1
    assert outcomes.count(Recorded(after)) == 5
    with uow.read() as session:
        assert session.scalar(select(func.count()).select_from(ProductEvent)) == events + 1
        assert session.scalar(select(func.count()).select_from(AuditEntry)) == lines + 6
        assert session.scalar(select(func.count()).select_from(AutomationRevision)) == 1
