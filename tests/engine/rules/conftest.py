"""What the tests of rules share."""

import pytest
from sqlalchemy.orm import Session

from tests.factories import accounts


@pytest.fixture
def workspace(session: Session) -> int:
    """Return the row id of a workspace."""
    return accounts.workspace(session).id
