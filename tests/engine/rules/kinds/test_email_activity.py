"""Conditions on opens and clicks read the flags of the contact."""

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from engine.audience.models import Contact
from engine.rules import service as rules
from engine.rules.service import Evaluation
from tests.factories import audience as make
from tests.factories.rules import condition


@pytest.mark.parametrize("raised", [True, False])
@pytest.mark.parametrize("operator", ["is_true", "is_false"])
@pytest.mark.parametrize("field", ["opened", "clicked"])
def test_a_flag_decides(
    session: Session, workspace: int, field: str, operator: str, raised: bool
) -> None:
    person = make.contact(session, workspace)
    values = {f"has_{field}": raised}
    session.execute(update(Contact).where(Contact.workspace_id == workspace).values(values))
    asked = condition(kind="email_activity", field=field, operator=operator)
    expected = Evaluation(raised is (operator == "is_true"), str(raised).lower())
    assert rules.evaluate(session, workspace, asked, [person.row_id]) == {person.row_id: expected}
