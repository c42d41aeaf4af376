"""What the API's tests may ask for: a program of one workspace, and one of another."""

import pytest
from flask import Flask

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, program
from tests.web.support import Town


@pytest.fixture
def shop(app: Flask, uow: UnitOfWork, acme: Town) -> Program:
    """Return a program that holds a full key of `acme`."""
    return program(app, uow, acme.workspace_id)


@pytest.fixture
def foreign(app: Flask, uow: UnitOfWork, other: Town) -> Program:
    """Return a program that holds a full key of the other workspace."""
    return program(app, uow, other.workspace_id)
