"""What the tests of templates share."""

import pytest

from engine.core.unit_of_work import UnitOfWork
from tests.factories import delivery
from tests.web.support import Town
from tests.web.templates.typed import GIVEN


@pytest.fixture
def template(uow: UnitOfWork, acme: Town) -> str:
    """Return a template that nobody uses yet, by its public id."""
    with uow.begin() as session:
        return delivery.template(
            session,
            acme.workspace_id,
            name=GIVEN["name"],
            subject=GIVEN["subject"],
            html=GIVEN["source"],
        ).public_id
