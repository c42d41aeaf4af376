"""How many people fulfil a condition now, and when the counting stops."""

from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.rules import service as rules
from engine.rules.service import Count
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT
from tests.factories.rules import condition

NAMED = {"kind": "contact_property", "field": "first_name", "operator": "equals", "value": "Ada"}


def test_people_of_this_workspace_who_are_not_deleted_are_counted(
    session: Session, workspace: int
) -> None:
    for name in ("Ada", "ada", "Kim"):
        make.contact(session, workspace, first_name=name)
    gone = make.contact(session, workspace, first_name="Ada")
    audience.delete_contact(session, workspace, gone.public_id, make.ACTOR, AT)
    make.contact(session, house_of.workspace(session).id, first_name="Ada")
    asked = condition(**NAMED)
    assert rules.count(session, workspace, asked) == Count(2, 3, False, False)


def test_counting_stops_where_the_number_says_enough(session: Session, workspace: int) -> None:
    for name in ("Ada", "Ada", "Ada", "Kim"):
        make.contact(session, workspace, first_name=name)
    asked = condition(**NAMED)
    assert rules.count(session, workspace, asked, most=2) == Count(2, 2, True, True)
    assert rules.count(session, workspace, asked, most=3) == Count(3, 3, False, True)
