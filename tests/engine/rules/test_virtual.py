"""Somebody who stands in no row gets the answer that the same person in rows would get."""

import itertools
from typing import Any, get_args

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from engine.audience.models import (
    BOOLEAN,
    INSTANT,
    NUMBER,
    TEXT,
    Contact,
    ContactPropertyValue,
    TopicMembership,
)
from engine.audience.values import TypedValue, read
from engine.core.db import scope
from engine.rules import service as rules
from engine.rules import virtual
from engine.rules.kinds.contact_property import Operator
from engine.rules.virtual import Person
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.rules import condition

VALUES: list[tuple[str, Any]] = [
    (TEXT, "Pro"), (TEXT, ""), (TEXT, "10"), (TEXT, "9 EUR"), (TEXT, "true"), (NUMBER, 10),
    (NUMBER, 0.5), (BOOLEAN, True), (BOOLEAN, False), (INSTANT, "2026-03-02"), (TEXT, "ÄÖ'%_"),
    (TEXT, "Infinity"), (TEXT, "-Infinity"), (NUMBER, 0.1 + 0.2),
]  # fmt: skip
DAY = "2026-03-02T00:00:00.000Z"
ASKED: list[Any] = [None, 0.1 + 0.2, 1e308, "pro", "", "10", 9, True, "äö", DAY]


@pytest.mark.parametrize("kept", [None, *VALUES])
def test_properties_decide_alike(
    session: Session, workspace: int, kept: tuple[str, Any] | None
) -> None:
    contact = make.contact(session, workspace)
    values: dict[str, TypedValue] = {}
    if kept is not None:
        value = read(*kept, "")
        assert isinstance(value, TypedValue)
        values["plan"] = value
        session.add(
            ContactPropertyValue(
                workspace_id=workspace, contact_id=contact.row_id, key="plan", type=value.type,
                text=value.text, folded=value.folded, number=value.number,
                boolean=value.boolean, instant=value.instant, updated_at=AT,
            )
        )  # fmt: skip
    session.flush()
    scope(session, workspace)
    for operator, asked in itertools.product(get_args(Operator), ASKED):
        document = {"kind": "contact_property", "field": "plan", "operator": operator}
        rule = condition(**document, **({} if asked is None else {"value": asked}))
        real = rules.evaluate(session, workspace, rule, [contact.row_id])[contact.row_id]
        assert virtual.evaluate(session, workspace, rule, Person(values)) == real, (kept, rule)


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("member", [True, False])
def test_mail_and_topics_decide_alike(
    session: Session, workspace: int, opened: bool, member: bool
) -> None:
    contact = make.contact(session, workspace)
    session.execute(update(Contact).where(Contact.id == contact.row_id).values(has_opened=opened))
    topic = make.topic(session, workspace)
    if member:
        session.add(
            TopicMembership(
                workspace_id=workspace, topic_id=topic.row_id,
                contact_id=contact.row_id, source="api",
                created_at=AT, pending_doi_confirmation=False,
            )
        )  # fmt: skip
    session.flush()
    scope(session, workspace)
    person = Person({}, [topic.public_id] if member else [], opened=opened)
    for rule in (
        condition(kind="email_activity", field="opened", operator="is_true"),
        condition(kind="topic_membership", topic_id=topic.public_id, operator="equals"),
        condition(kind="topic_membership", topic_id="T0", operator="not_equals"),
    ):
        real = rules.evaluate(session, workspace, rule, [contact.row_id])[contact.row_id]
        assert virtual.evaluate(session, workspace, rule, person) == real
    assert session.scalar(select(func.count()).where(Contact.workspace_id == workspace)) == 1
