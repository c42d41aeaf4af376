"""An editor with a draft or a live automation, and an admin."""

import pytest
from flask import Flask

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.web.approvals.desks import signed_in
from tests.web.automations.editing import Desk, desk
from tests.web.automations.running import Running
from tests.web.support import Reader, Town


@pytest.fixture
def editor(app: Flask, acme: Town) -> Reader:
    return signed_in(app, acme, "editor")


@pytest.fixture
def admin(app: Flask, acme: Town) -> Reader:
    return signed_in(app, acme, "admin")


@pytest.fixture
def draft(editor: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Desk:
    """Return a draft in the hands of the editor."""
    return desk(editor, uow, acme, clock, making.delay("wait", 5))


@pytest.fixture
def waits(editor: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Running:
    """Return a live automation in the hands of the editor: wait five days, then one more."""
    raw = making.document(making.delay("wait", 5), making.delay("more"))
    return Running(editor, uow, acme, clock, raw)
