"""Saved views: kept for one person, replaced under the same name, bounded, nobody else's."""

from datetime import timedelta

import pytest

from engine.accounts import view_rows
from engine.accounts.service.views import (
    MAX_QUERY,
    MOST,
    RUNS,
    Deleted,
    Saved,
    delete_view,
    save_view,
)
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts


class Desk:
    """Two people of one workspace, and what they keep."""

    def __init__(self, uow: UnitOfWork, clock: FixedClock) -> None:
        self.uow, self.clock = uow, clock
        with uow.begin() as session:
            self.workspace_id = accounts.workspace(session).id
            self.ida = accounts.user(session, self.workspace_id).id
            self.ben = accounts.user(session, self.workspace_id).id

    def save(self, name: str, query: str = "status=running", user: int = 0) -> Saved | Refused:
        at = self.clock.advance(timedelta(seconds=1))
        with self.uow.begin() as session:
            return save_view(session, self.workspace_id, user or self.ida, RUNS, name, query, at)

    def delete(self, public_id: str, user: int = 0) -> Deleted | Refused:
        with self.uow.begin() as session:
            return delete_view(session, self.workspace_id, user or self.ida, public_id)

    def kept(self, user: int = 0, area: str = RUNS) -> list[tuple[str, str]]:
        with self.uow.read() as session:
            found = view_rows.list_views(session, self.workspace_id, user or self.ida, area)
            return [(view.name, view.query) for view in found]

    def ids(self, user: int = 0) -> list[str]:
        with self.uow.read() as session:
            found = view_rows.list_views(session, self.workspace_id, user or self.ida, RUNS)
            return [view.public_id for view in found]


@pytest.fixture
def desk(uow: UnitOfWork, clock: FixedClock) -> Desk:
    """Return the desk."""
    return Desk(uow, clock)


def test_a_view_is_kept_for_the_person_who_saved_it_and_shown_by_name(desk: Desk) -> None:
    assert desk.save("Waiting") == Saved("Waiting", replaced=False)
    assert desk.save("  Broken \t mails ", "error=SMTP") == Saved("Broken mails", replaced=False)
    assert desk.save("Waiting", "q=ben", user=desk.ben) == Saved("Waiting", replaced=False)
    assert desk.kept() == [("Broken mails", "error=SMTP"), ("Waiting", "status=running")]
    assert desk.kept(desk.ben) == [("Waiting", "q=ben")]
    assert desk.kept(area="sends") == []


def test_saving_again_under_the_name_replaces_and_says_so_only_if_something_changed(
    desk: Desk,
) -> None:
    desk.save("Waiting")
    before = desk.ids()
    assert desk.save("Waiting") == Saved("Waiting", replaced=False)
    assert desk.save("Waiting", "status=cancelled") == Saved("Waiting", replaced=True)
    assert desk.kept() == [("Waiting", "status=cancelled")]
    assert desk.ids() == before


@pytest.mark.parametrize(
    "name", ["🚂 Züge", "مرحبا بالعالم", "<script>alert(1)</script>", "x" * 80]
)
def test_a_name_may_be_of_any_script(desk: Desk, name: str) -> None:
    assert desk.save(name) == Saved(name, replaced=False)
    assert desk.kept() == [(name, "status=running")]


@pytest.mark.parametrize(
    ("name", "query", "reason"),
    [
        ("", "q=a", "view_name_missing"),
        (" \n ", "q=a", "view_name_missing"),
        ("x" * 200, "q=a", "view_name_too_long"),
        ("a\x00b", "q=a", "view_name_invalid"),
        ("Fine", "", "view_empty"),
        ("Fine", "q=" + "a" * MAX_QUERY, "view_too_long"),
    ],
)
def test_what_cannot_be_kept_is_refused(desk: Desk, name: str, query: str, reason: str) -> None:
    refused = desk.save(name, query)
    assert isinstance(refused, Refused)
    assert refused.reason == reason
    assert desk.kept() == []


def test_nobody_has_more_views_than_fit_above_a_list_but_the_old_ones_can_change(
    desk: Desk,
) -> None:
    for number in range(MOST):
        assert isinstance(desk.save(f"View {number:02}"), Saved)
    refused = desk.save("One more")
    assert isinstance(refused, Refused)
    assert (refused.reason, refused.params) == ("too_many_views", {"limit": MOST})
    assert desk.save("View 07", "q=x") == Saved("View 07", replaced=True)
    assert isinstance(desk.save("Mine", user=desk.ben), Saved)
    assert len(desk.kept()) == MOST


def test_a_view_is_deleted_by_its_owner_alone(desk: Desk) -> None:
    desk.save("Waiting")
    [public_id] = desk.ids()
    for user, asked in ((desk.ben, public_id), (desk.ida, "nothing"), (desk.ida, "x" * 21)):
        refused = desk.delete(asked, user)
        assert isinstance(refused, Refused)
        assert refused.kind == "missing"
    assert desk.delete(public_id) == Deleted("Waiting", "status=running")
    assert desk.kept() == []
