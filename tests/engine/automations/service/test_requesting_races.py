"""Requests at the very instant at which somebody else is at them: one deed, one decision."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from engine.automations import service
from engine.automations.models import AutomationRevision
from engine.automations.service import requesting
from engine.automations.service.requesting import ACTIVATE, PUBLISH, Granted, Request
from engine.core.audit import Actor
from engine.core.clock import FixedClock
from engine.core.outcome import Recorded, Refused, Transitioned
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.test_races import together
from tests.factories import automations as make
from tests.factories.asking import EDITOR, Office

ROUNDS = 5


@pytest.fixture
def office(uow: UnitOfWork, clock: FixedClock) -> Office:
    return Office(uow, clock)


@pytest.mark.parametrize("kind", [ACTIVATE, PUBLISH])
def test_two_admins_at_once_do_one_deed(office: Office, kind: str) -> None:
    admins = [Actor("user:one"), Actor("user:two")]
    for _round in range(ROUNDS):
        thing = office.draft() if kind == ACTIVATE else office.changed()
        request = office.ask(thing, kind)
        before = office.revisions()
        seen: list[Any] = []
        together(*(_later(seen, office.grant, request, None, admin) for admin in admins))
        assert [type(each) for each in seen] == [Granted, Granted]
        outcomes = sorted(repr(each.outcome) for each in seen)
        assert outcomes == [
            repr(Recorded("granted")),
            repr(Transitioned("pending", "granted")),
        ]
        assert office.revisions() == before + 1
        first = office.row(request).decided_by
        assert office.lines(thing)[-1][1] == first
        acts = [action for action, _by in office.lines(thing)]
        assert acts[-1] == ("automation.activated" if kind == ACTIVATE else "automation.published")


def test_a_grant_and_a_denial_at_once_are_one_decision(office: Office) -> None:
    for _round in range(ROUNDS):
        draft = office.draft()
        request = office.ask(draft)
        seen: list[Any] = []
        together(
            _later(seen, office.grant, request),
            _later(seen, office.deny, request, "no", Actor("user:two")),
        )
        [late] = [each for each in seen if isinstance(each, Refused)]
        row = office.row(request)
        assert (late.reason, late.params["by"]) == ("decided_already", row.decided_by)
        active = office.automation(draft).status == "active"
        assert active == (row.status == "granted")


def test_a_grant_and_a_withdrawal_at_once_are_one_decision(office: Office) -> None:
    for _round in range(ROUNDS):
        draft = office.draft()
        request = office.ask(draft)
        seen: list[Any] = []
        together(_later(seen, office.grant, request), _later(seen, office.withdraw, request))
        assert len([each for each in seen if isinstance(each, Refused)]) == 1
        active = office.automation(draft).status == "active"
        assert active == (office.row(request).status == "granted")


def test_a_grant_and_an_edit_at_once_put_nothing_in_force_that_nobody_asked_for(
    office: Office,
) -> None:
    for _round in range(ROUNDS):
        draft = office.draft(make.delay("wait", 1))
        request = office.ask(draft)
        seen: list[Any] = []

        def edit(draft: str = draft) -> None:
            place, at = office.workspace_id, office.clock.now()
            with office.uow.begin() as session:
                raw = make.document(make.delay("wait", 2))
                service.save(session, place, draft, raw, 1, EDITOR, at)

        together(_later(seen, office.grant, request), edit)
        [outcome] = seen
        granted = isinstance(outcome, Granted)
        assert (office.row(request).status == "granted") == granted
        if granted:
            with office.uow.read() as session:
                document = session.scalars(
                    select(AutomationRevision.document).order_by(AutomationRevision.id.desc())
                ).first()
            assert document is not None
            assert document["steps"][0]["config"]["duration"] == 1


def test_two_who_ask_at_once_make_one_request(office: Office) -> None:
    for _round in range(ROUNDS):
        draft = office.draft()
        seen: list[Any] = []

        def ask(draft: str = draft) -> Any:
            place, at = office.workspace_id, office.clock.now()
            with office.uow.begin() as session:
                wanted = Request(ACTIVATE)
                return requesting.ask_for(session, place, draft, wanted, EDITOR, at)

        together(_later(seen, ask), _later(seen, ask))
        [refused] = [each for each in seen if isinstance(each, Refused)]
        assert refused.reason == "already_asked"


def _later(seen: list[Any], act: Callable[..., Any], *arguments: Any) -> Callable[[], object]:
    """Return an act that keeps what it answered."""
    return lambda: seen.append(act(*arguments))
