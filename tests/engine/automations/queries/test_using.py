"""Which automations use a template: in a draft, in the revision in force, nowhere else."""

import pytest
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.queries.using import IN_DRAFT, LIVE, using
from tests.factories import accounts, automations, delivery
from tests.factories.automations import ACTOR


@pytest.fixture
def workspace(session: Session) -> int:
    """Return a workspace that can send."""
    workspace_id = accounts.workspace(session).id
    delivery.sender(session, workspace_id)
    return workspace_id


def _used(session: Session, workspace: int, template: str) -> list[tuple[str, str, str]]:
    return [(use.name, use.status, use.where) for use in using(session, workspace, template)]


def test_a_template_is_used_by_drafts_and_by_what_is_in_force(
    session: Session, workspace: int
) -> None:
    old, new = (delivery.template(session, workspace).public_id for _ in range(2))
    live = automations.live(
        session, workspace, automations.document(automations.email("a", old)), accounts.AT
    )
    document = automations.document(automations.email("a", new), name="Welcome")
    saved = service.save(
        session, workspace, live.public_id, document, live.draft_version, ACTOR, accounts.AT
    )
    assert isinstance(saved, service.Saved), saved
    assert _used(session, workspace, old) == [("Welcome", "active", LIVE)]
    assert _used(session, workspace, new) == [("Welcome", "active", IN_DRAFT)]


def test_an_automation_with_both_stands_twice(session: Session, workspace: int) -> None:
    template = delivery.template(session, workspace).public_id
    document = automations.document(automations.email("a", template))
    automations.live(session, workspace, document, accounts.AT)
    assert sorted(where for _name, _status, where in _used(session, workspace, template)) == [
        IN_DRAFT,
        LIVE,
    ]


def test_neither_deleted_nor_foreign_automations_count(session: Session, workspace: int) -> None:
    template = delivery.template(session, workspace).public_id
    other = accounts.workspace(session, "Other").id
    document = automations.document(automations.email("a", template))
    made = service.create(session, workspace, document, ACTOR, accounts.AT)
    assert isinstance(made, service.Saved)
    service.create(session, other, document, ACTOR, accounts.AT)
    assert len(_used(session, workspace, template)) == 1
    assert service.remove(session, workspace, made.public_id, ACTOR, accounts.AT) == 0
    assert _used(session, workspace, template) == []


def test_a_template_that_nobody_names_is_free(session: Session, workspace: int) -> None:
    template = delivery.template(session, workspace).public_id
    service.create(
        session, workspace, automations.document(automations.delay("a")), ACTOR, accounts.AT
    )
    assert _used(session, workspace, template) == []
