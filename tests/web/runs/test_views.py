"""The pages of runs: the list with its filters, the log of one run (console checks 29 to 35)."""

from datetime import timedelta

import pytest
from flask import Flask

from engine.audience import service as audience
from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.factories.scenes import Scene
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


def _log(reader: Reader, run_id: str) -> list[str]:
    """Return the lines of a run's log, each as one text."""
    return texts(tree(reader.get(f"/runs/{run_id}")), ".log .said")


def _listed(reader: Reader, query: str) -> list[str]:
    return texts(tree(reader.get(f"/runs?{query}")), "tbody th a")


def test_the_list_says_who_where_since_when_what_next_and_what_went_wrong(
    owner: Reader, scene: Scene
) -> None:
    rows = texts(tree(owner.get("/runs")), "tbody tr")
    assert len(rows) == 10
    assert rows[0] == (
        "Ines Okafor Trial lifecycle Waiting Wait 3 days Mon 9 Mar, 09:37 UTC"
        " Fri 6 Mar, 09:37 UTC –"
    )
    assert " Ended early – – " in rows[2]
    assert rows[2].endswith(" The person has no e-mail address.")


@pytest.mark.parametrize(
    ("query", "people_listed"),
    [
        ("status=completed", ["Jo Feld", "Ada Lovelace"]),
        ("status=cancelled", ["Nobody"]),
        ("q=noor", ["Noor Haddad"]),
        ("q=kim.arnold@partner.example", ["Kim Arnold", "Kim Arnold"]),
        ("error=NO_ADDRESS", ["Nobody"]),
        ("error=no+email", ["Nobody"]),
        ("since=2026-03-06", ["Ines Okafor", "Noor Haddad"]),
        ("until=2026-03-02&status=completed", ["Jo Feld", "Ada Lovelace"]),
        ("step=again", ["Mara Lindt", "Kim Arnold"]),
        ("since=not-a-day&status=cancelled", ["Nobody"]),
    ],
)
def test_each_filter_stands_in_the_address(
    owner: Reader, scene: Scene, query: str, people_listed: list[str]
) -> None:
    assert _listed(owner, query) == people_listed


def test_the_filter_shows_again_what_was_asked(owner: Reader, scene: Scene) -> None:
    automation = scene.automations["active"]
    page = tree(owner.get(f"/runs?automation={automation}&step=again&q=kim&since=2026-03-01"))
    assert texts(page, "tbody th a") == ["Kim Arnold"]
    chosen = {
        found.getparent().get("name"): found.get("value")
        for found in pick(page, "option[selected]")
    }
    assert chosen == {"automation": automation, "step": "again"}
    assert "Wait 4 days" in texts(page, "select[name=step] option")
    assert {found.get("name"): found.get("value") for found in pick(page, ".filters input")} == {
        "since": "2026-03-01", "until": "", "q": "kim", "error": "", "attention": "1",
    }  # fmt: skip


def test_nothing_yet_and_nothing_that_matches_are_told_apart(owner: Reader) -> None:
    assert "When something happens to a person" in owner.get("/runs").text
    page = tree(owner.get("/runs?q=nobody"))
    assert texts(page, ".empty a") == ["Clear filters"]


def test_the_log_tells_every_step_with_times_attempts_and_the_mail(
    owner: Reader, scene: Scene
) -> None:
    lines = _log(owner, scene.runs["at again"])
    assert lines[0] == "Entered by the event “trial_started”"
    assert lines[1].startswith("Mail “Welcome aboard” queued step 1 · Done · ended 09:00:00 · took")
    assert "Kept in the outbox here; it did not leave · mail as sent <" in lines[1]
    assert lines[2].startswith("Waited 3 days step 2 · Done · ended Thu 5 Mar, 09:37:04 UTC")
    assert lines[2].endswith("took 3 days · taken up 37 minutes late")
    assert lines[3].startswith("onboarding_complete is true? → no step 3 · Done")
    assert lines[3].endswith("rule: onboarding_complete is true · found: false · path taken: no")
    assert lines[5] == ("Waiting 4 days step 5 · Waiting · due Mon 9 Mar, 09:37:04 UTC (in 3 days)")
    assert lines[6] == "Next: Mail “Your trial ends Friday”"


def test_the_log_of_a_finished_run_says_which_steps_the_way_led_past(
    owner: Reader, scene: Scene
) -> None:
    lines = _log(owner, scene.runs["finished"])
    skipped = "step 4 · Skipped The way that was taken leads past this step."
    assert f"Mail “Can we help?”: skipped {skipped}" in lines
    assert lines[-1] == "Finished It came to the end of the line."


def test_the_log_of_a_failed_run_says_each_attempt_and_why_the_run_ended(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get(f"/runs/{scene.runs['step_failed']}"))
    failed = texts(page, ".log .said")[1]
    assert failed.startswith("Mail “Welcome aboard”: failed step 1 · Failed")
    assert "4 attempts" in failed
    assert failed.count("The person has no e-mail address. NO_ADDRESS") == 4
    assert all(f"attempt {number}:" in failed for number in (1, 2, 3))
    assert "A step failed for good." in words(one(page, ".true-now"))


def test_between_two_attempts_the_log_says_when_it_is_tried_again(
    owner: Reader, house: House, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    run = _failing(house, uow, acme, clock)
    line = _log(owner, run)[1]
    assert "· Tries again" in line
    assert "· due Mon 2 Mar, 09:00:01 UTC" in line
    assert "attempt 1: The person has no e-mail address. NO_ADDRESS" in line


def _failing(house: House, uow: UnitOfWork, town: Town, clock: FixedClock) -> str:
    """Return a run whose first step failed once, for a person without an address."""
    place = town.workspace_id
    with uow.begin() as session:
        mails.sender(session, place)
        template = mails.template(session, place).public_id
        raw = making.document(making.email("mail", template), making.delay("wait"))
        row = making.live(session, place, raw, clock.now())
        person = people.contact(session, place, external_id="C-1")
        making.fire(session, place, [person], clock.now())
        run = making.runs(session, row)[0].public_id
    house.steps.sweep()
    return run


def test_the_way_is_lit_on_the_plan_and_told_as_text(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs['finished']}"))
    section = one(page, "section[aria-labelledby=way-title]")
    assert words(pick(section, "p")[0]) == (
        "The event “trial_started” arrives → Mail “Welcome aboard” → Wait 3 days →"
        " onboarding_complete is true? (yes) → Mail “Your trial ends Friday”"
    )
    states = [row.get("class").split() for row in pick(section, ".plan li")]
    assert [("done" in state, "skipped" in state) for state in states] == [
        (True, False), (True, False), (True, False), (True, False),
        (False, True), (False, True), (True, False), (True, False),
    ]  # fmt: skip
    assert pick(section, "path.taken")


def test_the_station_where_the_person_stands_is_marked(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs['at again']}"))
    assert texts(page, "[aria-current=step]") == ["Wait 4 days"]


def test_a_step_leads_to_its_form_beside_the_automations_plan(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs['at again']}"))
    links = [a.get("href") for a in pick(page, ".log a") if words(a) == "step 3"]
    assert links == [f"/automations/{scene.automations['active']}?step=done#at-done"]
    editor = tree(owner.get(links[0]))
    assert texts(editor, "#at-done[aria-current=step] h3") == texts(editor, "#rail-title")


def test_the_mail_as_sent_is_one_click_away(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get(f"/runs/{scene.runs['at again']}"))
    links = [a.get("href") for a in pick(page, ".log a") if words(a) == "mail as sent"]
    assert len(links) == 2
    assert owner.get(links[0]).status_code == 200


def test_a_run_of_a_paused_automation_says_what_will_happen(owner: Reader, scene: Scene) -> None:
    note = texts(tree(owner.get(f"/runs/{scene.runs['at long']}")), ".note.hold")
    assert note == [
        "The automation is paused since Mon 2 Mar, 09:37 UTC ."
        " If it is still paused when this step is due, the person leaves it here."
    ]


def test_the_log_stays_when_automation_and_person_are_gone(
    owner: Reader, scene: Scene, uow: UnitOfWork, clock: FixedClock
) -> None:
    place = scene.workspace_id
    with uow.begin() as session:
        wish = service.Wish("paused")
        service.move(session, place, scene.automations["active"], wish, making.ACTOR, clock.now())
        service.remove(session, place, scene.automations["active"], making.ACTOR, clock.now())
        audience.delete_contact(session, place, scene.people["first"], making.ACTOR, clock.now())
    page = tree(owner.get(f"/runs/{scene.runs['at again']}"))
    assert "The automation was deleted." in words(one(page, ".true-now"))
    targets = [a.get("href") for a in pick(page, "main a")]
    assert not [href for href in targets if href.startswith(("/automations/", "/people/"))]
    assert "(deleted)" in words(one(page, "aside"))


def test_a_stranger_of_another_workspace_finds_no_run(
    app: Flask, other: Town, scene: Scene
) -> None:
    reader = Reader(app)
    reader.sign_in(other.people["owner"])
    assert reader.get(f"/runs/{scene.runs['finished']}").status_code == 404
    assert _listed(reader, "") == []
    assert _listed(reader, f"automation={scene.automations['active']}") == []


@pytest.mark.parametrize("role", ["editor", "support"])
def test_everybody_of_the_workspace_may_read(
    app: Flask, acme: Town, scene: Scene, role: str
) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    assert len(_listed(reader, "")) == 10
    assert len(_log(reader, scene.runs["finished"])) == 8


def test_a_long_list_goes_on_behind_a_cursor_in_the_address(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    _crowd(uow, acme, clock, 60)
    first = tree(owner.get("/runs"))
    assert len(pick(first, "tbody tr")) == 50
    following = tree(owner.get(one(first, ".pager a[rel=next]").get("href")))
    assert len(pick(following, "tbody tr")) == 10
    assert texts(following, ".pager a") == ["To the first page"]


def test_the_list_asks_no_more_of_the_database_for_more_runs(
    owner: Reader, house: House, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    counts: list[int] = []
    for people_more in (1, 40):
        _crowd(uow, acme, clock, people_more)
        with counting(house.runtime.database.engine) as asked:
            assert owner.get("/runs").status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 14


def test_the_log_asks_no_more_of_the_database_for_more_steps(
    owner: Reader, house: House, scene: Scene
) -> None:
    counts: list[int] = []
    for run in ("step_failed", "finished"):
        owner.get(f"/runs/{scene.runs[run]}")
        with counting(house.runtime.database.engine) as asked:
            owner.get(f"/runs/{scene.runs[run]}")
        counts.append(asked.count)
    assert max(counts) <= 20
    assert abs(counts[0] - counts[1]) <= 1


def _crowd(uow: UnitOfWork, town: Town, clock: FixedClock, many: int) -> None:
    place = town.workspace_id
    with uow.begin() as session:
        raw = making.document(making.delay("wait"), name=f"For {many}")
        making.live(session, place, raw, clock.now())
        persons = [people.contact(session, place) for _ in range(many)]
        making.fire(session, place, persons, clock.now())
        clock.advance(timedelta(seconds=1))


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_status_that_there_is_not_is_named(owner: Reader, scene: Scene, language: str) -> None:
    page = tree(owner.get(f"/runs?status=lost&lang={language}"))
    (said,) = texts(page, "main .note.hold")
    assert "“lost”" in said or "„lost“" in said
    assert texts(page, "tbody tr") == []
    assert texts(tree(owner.get("/runs?status=running")), "main .note.hold") == []
