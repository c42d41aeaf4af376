"""A world whose workspace keeps things for DAYS."""

import pytest
from sqlalchemy import update

from engine.accounts.models import Workspace
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.engine.pruning.forgetting import DAYS
from tests.factories.world import World


@pytest.fixture
def world(uow: UnitOfWork, clock: FixedClock) -> World:
    """Return a world whose workspace keeps things for DAYS."""
    made = World(uow, clock)
    with uow.begin() as session:
        session.execute(update(Workspace).values(retention_days=DAYS))
    return made
