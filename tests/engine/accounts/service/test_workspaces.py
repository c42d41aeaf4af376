"""What a workspace sets for itself: what is judged, what the audit log says; suspension."""

from dataclasses import replace
from typing import Any, Final

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts import queries, service
from engine.accounts.models import Workspace
from engine.accounts.queries import WorkspaceSettings
from engine.accounts.service import Limits
from engine.core.audit import Actor, AuditEntry
from engine.core.outcome import Recorded, Refused, Transitioned
from tests.factories import accounts
from tests.factories.accounts import AT

ADA: Final = Actor("user:ada")
SOUND: Final = Limits(3, "22:00", "07:30", 90, "Europe/Berlin", "de")


@pytest.fixture
def workspace(session: Session) -> Workspace:
    """Return a new workspace."""
    made = accounts.workspace(session)
    session.flush()
    return made


def audits(session: Session) -> list[AuditEntry]:
    """Return the lines about settings."""
    session.flush()
    return list(session.scalars(select(AuditEntry).where(AuditEntry.action != "workspace.created")))


def test_limits_are_set_and_the_log_says_what_changed(
    session: Session, workspace: Workspace
) -> None:
    done = service.update_limits(session, workspace.id, SOUND, ADA, AT)
    assert isinstance(done, WorkspaceSettings)
    assert done == queries.get_settings(session, workspace.id)
    assert (done.mails_per_day, done.quiet_from, done.quiet_until) == (3, "22:00", "07:30")
    assert (done.retention_days, done.timezone, done.language) == (90, "Europe/Berlin", "de")
    [line] = audits(session)
    assert (line.action, line.actor, line.resource_id) == (
        "workspace.updated", "user:ada", workspace.public_id,
    )  # fmt: skip
    assert line.details["retention_days"] == 90
    assert line.details["previous_retention_days"] == 365


def test_setting_the_same_again_leaves_no_line(session: Session, workspace: Workspace) -> None:
    service.update_limits(session, workspace.id, SOUND, ADA, AT)
    again = service.update_limits(session, workspace.id, SOUND, ADA, AT)
    assert isinstance(again, WorkspaceSettings)
    service.update_limits(session, workspace.id, replace(SOUND, retention_days=91), ADA, AT)
    first, second = audits(session)
    assert len(first.details) > 2
    assert second.details == {"retention_days": 91, "previous_retention_days": 90}


def test_limits_can_be_taken_away(session: Session, workspace: Workspace) -> None:
    service.update_limits(session, workspace.id, SOUND, ADA, AT)
    free = replace(SOUND, mails_per_day=None, quiet_from=None, quiet_until=None)
    done = service.update_limits(session, workspace.id, free, ADA, AT)
    assert isinstance(done, WorkspaceSettings)
    assert (done.mails_per_day, done.quiet_from, done.quiet_until) == (None, None, None)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"mails_per_day": 0}, {"/mails_per_day": "out_of_range"}),
        ({"mails_per_day": 1001}, {"/mails_per_day": "out_of_range"}),
        ({"quiet_from": None}, {"/quiet_from": "quiet_hours_incomplete"}),
        ({"quiet_until": None}, {"/quiet_until": "quiet_hours_incomplete"}),
        ({"quiet_until": "22:00"}, {"/quiet_until": "quiet_hours_empty"}),
        ({"quiet_from": "24:00"}, {"/quiet_from": "not_an_hour"}),
        ({"quiet_from": "7:30"}, {"/quiet_from": "not_an_hour"}),
        ({"quiet_from": "22:60", "quiet_until": "x"},
         {"/quiet_from": "not_an_hour", "/quiet_until": "not_an_hour"}),
        ({"quiet_from": "٢٢:٠٠"}, {"/quiet_from": "not_an_hour"}),
        ({"retention_days": 6}, {"/retention_days": "out_of_range"}),
        ({"retention_days": 3651}, {"/retention_days": "out_of_range"}),
        ({"timezone": "Europe/Atlantis"}, {"/timezone": "unknown_timezone"}),
        ({"timezone": "../etc/passwd"}, {"/timezone": "unknown_timezone"}),
        ({"language": "fr"}, {"/language": "unknown_language"}),
        ({"mails_per_day": -1, "language": ""},
         {"/mails_per_day": "out_of_range", "/language": "unknown_language"}),
    ],
)  # fmt: skip
def test_wrong_limits_are_refused_as_a_whole(
    session: Session, workspace: Workspace, change: dict[str, Any], faults: dict[str, str]
) -> None:
    before = queries.get_settings(session, workspace.id)
    done = service.update_limits(session, workspace.id, replace(SOUND, **change), ADA, AT)
    assert isinstance(done, Refused)
    assert {problem.pointer: problem.code for problem in done.problems} == faults
    assert queries.get_settings(session, workspace.id) == before
    assert audits(session) == []


@pytest.mark.parametrize("limit", [(1, 7), (1000, 3650), (None, 365)])
def test_the_ends_of_the_ranges_are_inside(
    session: Session, workspace: Workspace, limit: tuple[int | None, int]
) -> None:
    wanted = replace(SOUND, mails_per_day=limit[0], retention_days=limit[1])
    done = service.update_limits(session, workspace.id, wanted, ADA, AT)
    assert isinstance(done, WorkspaceSettings)


def test_a_workspace_is_suspended_and_resumed_once(session: Session, workspace: Workspace) -> None:
    suspend, resume = service.suspend, service.resume
    assert resume(session, workspace.id, ADA, AT) == Recorded("active")
    assert suspend(session, workspace.id, ADA, AT) == Transitioned("active", "suspended")
    assert suspend(session, workspace.id, ADA, AT) == Recorded("suspended")
    assert queries.get_settings(session, workspace.id).suspended_at == AT
    assert resume(session, workspace.id, ADA, AT) == Transitioned("suspended", "active")
    assert queries.get_settings(session, workspace.id).suspended_at is None
    assert [line.action for line in audits(session)] == ["workspace.suspended", "workspace.resumed"]
