"""Reads of automations themselves."""

from sqlalchemy.orm import Session

from engine.automations import queries, service
from tests.factories import accounts
from tests.factories import automations as making
from tests.factories.accounts import AT


def test_the_newest_number_is_that_of_the_last_revision(session: Session) -> None:
    workspace = accounts.workspace(session).id
    row = making.live(session, workspace, making.document(making.delay("wait")), AT)
    assert queries.newest_number(session, workspace, row.id) == 1
    raw = making.document(making.delay("wait", 2))
    saved = service.save(
        session, workspace, row.public_id, raw, row.draft_version, making.ACTOR, AT
    )
    assert isinstance(saved, service.Saved)
    assert queries.newest_number(session, workspace, row.id) == 1
    done = service.publish(session, workspace, row.public_id, service.STAY, making.ACTOR, AT)
    assert isinstance(done, service.Published), done
    assert queries.newest_number(session, workspace, row.id) == 2
    assert queries.newest_number(session, accounts.workspace(session).id, row.id) == 0
