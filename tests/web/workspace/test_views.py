"""The page of the workspace's settings: who may change it, what it refuses, what it warns of."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from engine.accounts import queries
from engine.accounts.queries import WorkspaceSettings
from engine.accounts.service import suspend
from engine.audience.service import delete_contact
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience
from tests.factories import automations as make
from tests.support.house import START
from tests.web.support import Reader, Town, tree
from web.workspace import views

SOUND: Final = {
    "mails_per_day": "3",
    "quiet_from": "22:00",
    "quiet_until": "07:30",
    "retention_days": "365",
    "timezone": "Europe/Berlin",
    "language": "de",
}


def stored(uow: UnitOfWork, town: Town) -> WorkspaceSettings:
    """Return the settings as they stand in the database."""
    with uow.read() as session:
        return queries.get_settings(session, town.workspace_id)


def finish_runs(uow: UnitOfWork, town: Town, clock: FixedClock, many: int) -> None:
    """Let `many` people have come and gone, deleted on their way."""
    with uow.begin() as session:
        automation = make.live(
            session, town.workspace_id, make.document(make.delay("wait")), clock.now()
        )
        people = [audience.contact(session, town.workspace_id) for _ in range(many)]
        make.fire(session, town.workspace_id, people, clock.now())
        session.flush()
        for person in people:
            delete_contact(session, town.workspace_id, person.public_id, make.ACTOR, clock.now())
        assert {run.status for run in make.runs(session, automation)} == {"cancelled"}


def test_what_is_saved_is_shown_again(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    assert owner.post("/workspace", SOUND).location == "/workspace"
    page = tree(owner.get("/workspace"))
    for name in ("mails_per_day", "quiet_from", "quiet_until", "retention_days"):
        assert page.xpath(f"//input[@name='{name}']/@value") == [SOUND[name]]
    assert page.xpath("//select[@name='timezone']/option[@selected]/@value") == ["Europe/Berlin"]
    assert "The settings are saved." in page.text_content()
    assert stored(uow, acme).language == "de"


def test_empty_fields_take_a_limit_away(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    owner.post("/workspace", SOUND)
    owner.post("/workspace", {**SOUND, "mails_per_day": "", "quiet_from": "", "quiet_until": " "})
    row = stored(uow, acme)
    assert (row.mails_per_day, row.quiet_from, row.quiet_until) == (None, None, None)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"mails_per_day": "0"}, {"mails_per_day"}),
        ({"mails_per_day": "many"}, {"mails_per_day"}),
        ({"mails_per_day": "9" * 40}, {"mails_per_day"}),
        ({"quiet_until": ""}, {"quiet_until"}),
        ({"quiet_from": "25:00"}, {"quiet_from"}),
        ({"quiet_from": "07:30"}, {"quiet_until"}),
        ({"retention_days": ""}, {"retention_days"}),
        ({"retention_days": "6"}, {"retention_days"}),
        ({"timezone": "Mars/Base"}, {"timezone"}),
        ({"language": "fr"}, {"language"}),
        ({"mails_per_day": "-1", "retention_days": "4000"}, {"mails_per_day", "retention_days"}),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_saved(
    uow: UnitOfWork, acme: Town, owner: Reader, change: Mapping[str, str], fields: set[str]
) -> None:
    before = stored(uow, acme)
    answer = owner.post("/workspace", {**SOUND, **change})
    assert answer.status_code == 422
    named = tree(answer).xpath("//*[@id='mistakes']//a/@href")
    assert {address.removeprefix("#") for address in named} == fields
    assert stored(uow, acme) == before


def test_a_shorter_history_says_in_numbers_what_goes_before_it_acts(
    uow: UnitOfWork, acme: Town, owner: Reader, clock: FixedClock
) -> None:
    finish_runs(uow, acme, clock, 3)
    clock.set(datetime(2026, 6, 20, 12, tzinfo=UTC))
    owner.sign_in(acme.people["owner"])
    shorter = {**SOUND, "mails_per_day": "9", "retention_days": "19"}
    asked = owner.post("/workspace", shorter)
    assert asked.status_code == 422
    page = tree(asked)
    words = page.text_content()
    assert "Tonight everything before Jun 2, 2026 goes for good: 3 finished runs, 0 mails" in words
    assert page.xpath("//input[@name='sure'][@type='checkbox'][not(@checked)]")
    assert page.xpath("//input[@name='mails_per_day']/@value") == ["9"]
    assert stored(uow, acme).retention_days == 365
    (asked_of,) = page.xpath("//input[@name='sure_of']/@value")
    sure = {**shorter, "sure": "y", "sure_of": asked_of}
    assert owner.post("/workspace", sure).status_code == 303
    assert stored(uow, acme).retention_days == 19


def test_a_yes_to_other_days_does_not_count(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    other = {**SOUND, "retention_days": "7", "sure": "y", "sure_of": "19"}
    page = tree(owner.post("/workspace", other))
    assert page.xpath("//input[@name='sure'][not(@checked)]")
    assert page.xpath("//input[@name='sure_of']/@value") == ["7"]
    assert stored(uow, acme).retention_days == 365


def test_the_question_is_asked_in_german(acme: Town, owner: Reader, clock: FixedClock) -> None:
    clock.set(datetime(2026, 6, 20, 12, tzinfo=UTC))
    owner.sign_in(acme.people["owner"])
    owner.get("/workspace?lang=de")
    words = tree(owner.post("/workspace", {**SOUND, "retention_days": "7"})).text_content()
    assert "Heute Nacht wird alles vor dem 14.06.2026 endgültig gelöscht" in words


def test_a_longer_history_is_saved_at_once(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    assert owner.post("/workspace", {**SOUND, "retention_days": "366"}).status_code == 303
    assert stored(uow, acme).retention_days == 366
    assert "sure" not in owner.get("/workspace").text


def test_a_great_number_is_not_counted_to_its_end(
    uow: UnitOfWork,
    acme: Town,
    owner: Reader,
    clock: FixedClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(views, "MOST_COUNTED", 2)
    finish_runs(uow, acme, clock, 5)
    clock.advance(timedelta(days=20))
    owner.sign_in(acme.people["owner"])
    asked = owner.post("/workspace", {**SOUND, "retention_days": "7"})
    assert "more than 2 finished runs" in tree(asked).text_content()


def test_the_limits_say_that_a_withheld_mail_is_not_sent_later(owner: Reader) -> None:
    words = tree(owner.get("/workspace")).text_content()
    assert "its mail is left out and is not sent later" in words


@pytest.mark.parametrize("role", ["editor", "support"])
def test_others_read_the_settings_and_are_offered_nothing(
    acme: Town, stranger: Reader, role: str
) -> None:
    stranger.sign_in(acme.people[role])
    page = tree(stranger.get("/workspace"))
    assert "any number" in page.text_content()
    assert page.xpath("//form[@action='/workspace']") == []
    assert stranger.post("/workspace", SOUND).status_code == 403


def test_a_suspension_is_said(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    with uow.begin() as session:
        suspend(session, acme.workspace_id, make.ACTOR, START)
    page = tree(owner.get("/workspace"))
    assert [each.text_content().strip() for each in page.xpath("//h1/following-sibling::*")][
        :1
    ] == ["Suspended"]
