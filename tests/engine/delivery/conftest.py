"""What tests of sending share."""

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.walker import SendWalker
from tests.engine.delivery.post import Post
from tests.factories import accounts, delivery
from tests.fakes.transports import ScriptedTransport


@pytest.fixture
def post(uow: UnitOfWork, clock: FixedClock) -> Post:
    """Return a workspace ready to send."""
    transport = ScriptedTransport()
    with uow.begin() as session:
        workspace = accounts.workspace(session).id
        template = delivery.template(session, workspace).row_id
    return Post(
        uow, clock, transport, SendWalker(uow, transport, delivery.LINKS), workspace, template
    )
