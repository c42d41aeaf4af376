"""Conditions on topics ask whether the membership row is there (facts 2.3)."""

import pytest
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import API
from engine.rules import service as rules
from engine.rules.service import Evaluation
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.rules import condition


@pytest.mark.parametrize("pending", [True, False])
@pytest.mark.parametrize(("operator", "expected"), [("equals", True), ("not_equals", False)])
def test_a_member_is_one_pending_or_not(
    session: Session, workspace: int, operator: str, expected: bool, pending: bool
) -> None:
    topic = make.topic(session, workspace, require_double_opt_in=pending)
    member, other = make.contact(session, workspace), make.contact(session, workspace)
    audience.subscribe(session, workspace, topic.public_id, member.public_id, API, AT)
    asked = condition(kind="topic_membership", topic_id=topic.public_id, operator=operator)
    assert rules.evaluate(session, workspace, asked, [member.row_id, other.row_id]) == {
        member.row_id: Evaluation(expected, "member"),
        other.row_id: Evaluation(not expected, "not_member"),
    }


def test_a_topic_of_another_workspace_has_no_members_here(session: Session, workspace: int) -> None:
    elsewhere = house_of.workspace(session).id
    topic = make.topic(session, elsewhere)
    member = make.contact(session, elsewhere)
    audience.subscribe(session, elsewhere, topic.public_id, member.public_id, API, AT)
    here = make.contact(session, workspace)
    asked = condition(kind="topic_membership", topic_id=topic.public_id, operator="equals")
    assert rules.evaluate(session, workspace, asked, [here.row_id, member.row_id]) == {
        here.row_id: Evaluation(False, "not_member")
    }
