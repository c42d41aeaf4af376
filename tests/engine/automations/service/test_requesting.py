"""Asking and granting: the deed and the answer are one, and only what was asked for is granted."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from engine.accounts.service.approvals import LONGEST
from engine.automations import service
from engine.automations.models import Automation
from engine.automations.service.requesting import ACTIVATE, PUBLISH, Granted
from engine.core.audit import Actor
from engine.core.clock import FixedClock
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from engine.delivery.service.templates import delete_template
from tests.factories import automations as make
from tests.factories import delivery
from tests.factories.asking import ADMIN, EDITOR, Office

DAY = timedelta(days=1)


@pytest.fixture
def office(uow: UnitOfWork, clock: FixedClock) -> Office:
    return Office(uow, clock)


def test_sec_05_what_an_admin_grants_is_done_by_the_admin_and_the_asker_is_named(
    office: Office,
) -> None:
    draft = office.draft()
    request = office.ask(draft, note="  Ready for Monday. ")
    assert office.automation(draft).status == "draft"
    assert office.row(request).note == "Ready for Monday."
    office.clock.advance(DAY)
    granted = office.grant(request, "Go ahead")
    assert isinstance(granted, Granted)
    assert granted.outcome == Transitioned("pending", "granted")
    assert isinstance(granted.deed, service.StatusChange)
    assert office.automation(draft).status == "active"
    row = office.row(request)
    assert (row.status, row.answer, row.decided_by) == ("granted", "Go ahead", ADMIN.name)
    assert row.decided_at == office.clock.now()
    assert office.lines(draft)[-1] == ("automation.activated", ADMIN.name)
    assert office.lines(request) == [
        ("approval.asked", EDITOR.name),
        ("approval.granted", ADMIN.name),
    ]
    told = office.details(request, "approval.granted")
    assert (told["asked_by"], told["kind"], told["name"]) == (EDITOR.name, ACTIVATE, "Welcome")


@pytest.mark.parametrize(("choice", "moved"), [("stay", 0), ("move", 1)])
def test_a_granted_publish_does_with_people_inside_as_was_asked(
    office: Office, choice: str, moved: int
) -> None:
    live = office.world.live(make.delay("wait", 5)).public_id
    office.world.fire()
    office.change(live, make.delay("wait", 9))
    request = office.ask(live, PUBLISH, people_inside=choice)
    granted = office.grant(request)
    assert isinstance(granted, Granted)
    assert granted.deed == service.Published(2, moved, 1 - moved, new=True, reactivated=False)
    assert office.row(request).wanted == {"people_inside": choice}


def test_a_draft_that_changed_meanwhile_is_not_granted_until_it_says_the_same_again(
    office: Office,
) -> None:
    draft = office.draft(make.delay("wait", 1))
    request = office.ask(draft)
    office.change(draft, make.delay("wait", 2))
    assert office.grant(request) == Refused("draft_changed")
    assert (office.row(request).status, office.automation(draft).status) == ("pending", "draft")
    office.change(draft, make.delay("wait", 1))
    assert isinstance(office.grant(request), Granted)


def test_a_changed_draft_is_asked_for_anew_and_the_older_request_is_over(office: Office) -> None:
    draft = office.draft(make.delay("wait", 1))
    first = office.ask(draft)
    again = office.refused(draft)
    assert (again.reason, again.params["by"]) == ("already_asked", EDITOR.name)
    office.change(draft, make.delay("wait", 2))
    second = office.ask(draft)
    assert office.row(first).status == "withdrawn"
    assert office.details(first, "approval.withdrawn")["reason"] == "asked_anew"
    assert isinstance(office.grant(second), Granted)


def test_a_deed_that_is_refused_leaves_the_request_waiting(office: Office) -> None:
    place = office.workspace_id
    with office.uow.begin() as session:
        delivery.sender(session, place)
        template = delivery.template(session, place)
    draft = office.draft(make.email("mail", template.public_id))
    request = office.ask(draft)
    with office.uow.begin() as session:
        delete_template(session, place, template.public_id, ADMIN, office.clock.now())
    refused = office.grant(request, "Fine")
    assert isinstance(refused, Refused)
    assert (refused.reason, [each.code for each in refused.problems]) == (
        "check_failed", ["template_not_found"],
    )  # fmt: skip
    row = office.row(request)
    assert (row.status, row.answer, row.decided_by) == ("pending", None, None)
    assert (office.automation(draft).status, office.revisions()) == ("draft", 0)
    assert office.lines(request) == [("approval.asked", EDITOR.name)]


def test_what_cannot_be_done_is_not_asked_for(office: Office) -> None:
    empty = office.draft(make.end("only"))
    office.change(empty)
    assert office.refused(empty).reason == "no_steps"
    assert office.refused(office.draft(make.email("mail", None))).reason == "check_failed"
    draft, live = office.draft(), office.world.live(make.delay("wait")).public_id
    assert office.refused(draft, PUBLISH).reason == "illegal_edge"
    assert office.refused(live).reason == "illegal_edge"
    assert office.refused(live, PUBLISH).reason == "nothing_to_publish"
    assert office.refused("nowhere").kind == "missing"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"kind": "automation.delete"}, "unknown_request"),
        ({"people_inside": "move"}, "nothing_to_choose"),
        ({"kind": PUBLISH, "people_inside": "vanish"}, "wrong_value"),
        ({"note": "x" * (LONGEST + 1)}, "words_too_long"),
        ({"note": "half \ud800"}, "words_invalid"),
        ({"version": 7}, "stale"),
    ],
)
def test_a_request_that_says_nothing_sound_is_refused(
    office: Office, wanted: dict[str, Any], reason: str
) -> None:
    assert office.refused(office.draft(), **wanted).reason == reason


def test_an_answer_that_cannot_be_kept_decides_nothing(office: Office) -> None:
    request = office.ask(office.draft())
    for answer in (office.grant(request, "x" * 1001), office.deny(request, "x" * 1001)):
        assert isinstance(answer, Refused)
        assert answer.problems[0].pointer == "/answer"
    assert office.row(request).status == "pending"


def test_a_request_is_denied_with_words_and_nothing_happens(office: Office) -> None:
    draft = office.draft()
    request = office.ask(draft)
    assert office.deny(request, "Not before the sale.") == Transitioned("pending", "denied")
    assert office.row(request).answer == "Not before the sale."
    assert office.automation(draft).status == "draft"
    assert office.deny(request) == Recorded("denied")
    assert office.row(request).answer == "Not before the sale."
    late = office.grant(request)
    assert isinstance(late, Refused)
    assert (late.reason, late.params["by"]) == ("decided_already", ADMIN.name)
    assert isinstance(office.ask(draft), str)


def test_only_the_asker_takes_a_request_back(office: Office) -> None:
    request = office.ask(office.draft())
    assert office.withdraw(request, Actor("user:somebody")) == Refused(
        "not_your_request", "forbidden"
    )
    assert office.withdraw(request) == Transitioned("pending", "withdrawn")
    assert office.withdraw(request) == Recorded("withdrawn")
    late = office.grant(request)
    assert isinstance(late, Refused)
    assert late.reason == "decided_already"


def test_a_grant_is_done_once_and_the_second_only_recorded(office: Office) -> None:
    draft = office.draft()
    request = office.ask(draft)
    office.grant(request)
    second = office.grant(request, by=Actor("user:late"))
    assert second == Granted(Recorded("granted"), None)
    assert office.row(request).decided_by == ADMIN.name
    assert [action for action, _by in office.lines(draft)].count("automation.activated") == 1


def test_who_may_do_it_by_hand_and_that_answers_the_request(office: Office) -> None:
    draft = office.draft()
    request = office.ask(draft)
    with office.uow.begin() as session:
        place, at = (session, office.workspace_id, draft), office.clock.now()
        changed = service.change_status(*place, service.Wish("active"), ADMIN, at)
    assert isinstance(changed, service.StatusChange)
    row = office.row(request)
    assert (row.status, row.decided_by) == ("granted", ADMIN.name)


def test_what_is_done_with_another_draft_ends_the_request_without_granting_it(
    office: Office,
) -> None:
    live = office.changed(make.delay("wait", 1))
    request = office.ask(live, PUBLISH)
    office.change(live, make.delay("wait", 2))
    with office.uow.begin() as session:
        place, at = (session, office.workspace_id, live), office.clock.now()
        assert isinstance(service.publish(*place, "stay", ADMIN, at), service.Published)
    row = office.row(request)
    assert (row.status, row.decided_by) == ("withdrawn", ADMIN.name)
    assert office.details(request, "approval.withdrawn")["reason"] == "done_otherwise"


def test_a_deleted_automation_takes_its_waiting_request_along(office: Office) -> None:
    draft = office.draft()
    kept = office.ask(draft)
    office.deny(kept)
    request = office.ask(draft)
    with office.uow.begin() as session:
        service.remove(session, office.workspace_id, draft, ADMIN, office.clock.now())
    row = office.row(request)
    assert (row.status, row.decided_by) == ("withdrawn", ADMIN.name)
    assert office.details(request, "approval.withdrawn")["reason"] == "deleted"
    assert office.row(kept).status == "denied"
    late = office.grant(request)
    assert isinstance(late, Refused)
    assert late.reason == "decided_already"


def test_a_paused_automation_is_not_resumed_by_a_grant(office: Office) -> None:
    draft = office.draft()
    request = office.ask(draft)
    with office.uow.begin() as session:
        row = session.scalars(select(Automation).where(Automation.public_id == draft)).one()
        session.connection().execute(
            Automation.__table__.update().values({"status": "paused"})  # type: ignore[attr-defined]
        )
        assert row.status == "draft"
    assert office.grant(request) == Refused("illegal_edge")
    assert office.row(request).status == "pending"


def test_a_request_of_another_workspace_is_unknown(office: Office, clock: FixedClock) -> None:
    request = office.ask(office.draft())
    other = Office(office.uow, clock)
    for answer in (other.grant(request), other.deny(request), other.withdraw(request)):
        assert isinstance(answer, Refused)
        assert answer.kind == "missing"
    assert office.row(request).status == "pending"
