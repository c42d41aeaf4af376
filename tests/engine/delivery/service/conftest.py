"""What the tests of delivery's services share."""

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.engine.delivery.service.desk import Desk


@pytest.fixture
def desk(uow: UnitOfWork) -> Desk:
    """Return a workspace with one person and one template."""
    return Desk(uow)
