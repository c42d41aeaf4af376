"""Changes of people set-wise: failures apart, order within one person, a handful of statements."""

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from engine.audience import queries
from engine.audience import service as people
from engine.audience.inputs import ContactPatch
from engine.automations.applying import Change, apply
from engine.automations.kinds.steps.base import TopicChange
from tests.factories import accounts
from tests.factories import audience as make
from tests.factories.accounts import AT


@pytest.fixture
def workspace(session: Session) -> int:
    return accounts.workspace(session).id


def plan(value: str) -> ContactPatch:
    return ContactPatch(properties={"plan": value})


def test_a_refused_change_fails_alone(session: Session, workspace: int) -> None:
    make.custom_property(session, workspace, "plan")
    ada, gone = (make.contact(session, workspace) for _ in range(2))
    elsewhere = accounts.workspace(session).id  # has no such property
    bob = make.contact(session, elsewhere)
    people.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    applied = apply(
        session,
        [
            Change(1, workspace, ada.row_id, plan("pro")),
            Change(2, workspace, gone.row_id, plan("pro")),
            Change(3, elsewhere, bob.row_id, plan("pro")),
            Change(4, elsewhere, ada.row_id, ContactPatch({"first_name": "Not mine"})),
            Change(5, workspace, ada.row_id, membership=TopicChange("gone", join=True)),
        ],
        AT,
    )
    codes = {step: failed.code for step, failed in applied.failed.items()}
    assert codes == {
        2: "CONTACT_NOT_FOUND",
        3: "PROPERTY_NOT_FOUND",
        4: "CONTACT_NOT_FOUND",
        5: "TOPIC_NOT_FOUND",
    }
    changes = [{"key": "plan", "before": None, "after": "pro"}]
    assert applied.results == {1: {"changes": changes}}


def test_two_changes_of_one_person_happen_one_after_the_other(
    session: Session, workspace: int
) -> None:
    make.custom_property(session, workspace, "plan")
    topic, ada = make.topic(session, workspace), make.contact(session, workspace)
    wishes: Sequence[Any] = [
        {"patch": plan("a")},
        {"membership": TopicChange(topic.public_id, join=True)},
        {"patch": plan("b")},
        {"membership": TopicChange(topic.public_id, join=False)},
        {"patch": plan("b")},
    ]
    applied = apply(
        session,
        [Change(n, workspace, ada.row_id, **wish) for n, wish in enumerate(wishes)],
        AT,
    )
    assert applied.failed == {}
    assert applied.results == {
        0: {"changes": [{"key": "plan", "before": None, "after": "a"}]},
        1: {"outcome": "subscribed"},
        2: {"changes": [{"key": "plan", "before": "a", "after": "b"}]},
        3: {"outcome": "unsubscribed"},
        4: {"changes": []},
    }
    now = queries.get_contact(session, workspace, ada.public_id)
    assert now is not None
    assert now.properties == {"plan": "b"}


def test_two_hundred_people_take_as_many_statements_as_two(
    session: Session, workspace: int
) -> None:
    make.custom_property(session, workspace, "plan")
    topic = make.topic(session, workspace)
    rows = [make.contact(session, workspace).row_id for _ in range(202)]
    wishes: Sequence[Any] = [
        {"patch": ContactPatch({"first_name": "Grace"}, {"plan": "pro"})},
        {"patch": ContactPatch(properties={"plan": None})},
        {"membership": TopicChange(topic.public_id, join=True)},
        {"membership": TopicChange(topic.public_id, join=False)},
    ]
    for wish in wishes:
        counts = []
        for some in (rows[:2], rows[2:]):
            said: list[str] = []

            def note(
                _c: Any, _cursor: Any, statement: str, *_: Any, said: list[str] = said
            ) -> None:
                said.append(statement)

            event.listen(session.get_bind(), "before_cursor_execute", note)
            applied = apply(session, [Change(row, workspace, row, **wish) for row in some], AT)
            event.remove(session.get_bind(), "before_cursor_execute", note)
            assert (applied.failed, len(applied.results)) == ({}, len(some))
            counts.append(len(said))
        assert counts[0] == counts[1] <= 8, (wish, counts)
