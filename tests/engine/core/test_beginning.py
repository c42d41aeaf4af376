"""A search by beginnings finds exactly what begins so, in every script and by an index's order."""

from typing import Final

from sqlalchemy import select

from engine.audience.models import Contact
from engine.core.db import begins_with
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories import audience as make

_TEXTS: Final = (
    "ada", "adam", "ad", "adb", "Ada", "ada\U0010ffff", "ada\U0010ffffx", "ae", "\ud7ff", "\ue000x",
    "\U0010ffff", "\U0010ffff\U0010ffff", "müller", "müllerin", "mü", "مريم", "مر", "🎈x", "🎈",
)  # fmt: skip


def test_what_begins_so_is_found_and_nothing_else(uow: UnitOfWork) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        for text in _TEXTS:
            make.contact(session, workspace_id, external_id=text)
    with uow.read(workspace_id) as session:
        for text in _TEXTS:
            query = select(Contact.external_id).where(
                Contact.workspace_id == workspace_id,
                begins_with(session, Contact.external_id, text),
            )
            found = sorted(str(each) for each in session.scalars(query))
            assert found == sorted(each for each in _TEXTS if each.startswith(text)), text
