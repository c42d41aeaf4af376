"""The pages of automations: list, plan, the three buttons and who may press them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from flask import Flask
from sqlalchemy import select

from engine.automations import service
from engine.automations.models import Automation, AutomationRevision
from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.delivery import service as delivery
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.factories.scenes import Scene
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


@pytest.fixture
def waiting(uow: UnitOfWork, acme: Town, clock: FixedClock) -> str:
    """Return an active automation with two people who wait for a day."""
    with uow.begin() as session:
        row = making.live(
            session, acme.workspace_id, making.document(making.delay("wait")), clock.now()
        )
        persons = [people.contact(session, acme.workspace_id) for _ in range(2)]
        making.fire(session, acme.workspace_id, persons, clock.now())
        return row.public_id


def _draft(uow: UnitOfWork, town: Town, clock: FixedClock, *steps: dict[str, object]) -> str:
    with uow.begin() as session:
        raw = making.document(*steps, name="Thanks")
        saved = service.create(session, town.workspace_id, raw, making.ACTOR, clock.now())
        assert isinstance(saved, service.Saved)
        return saved.public_id


def _status(uow: UnitOfWork, public_id: str) -> str:
    with uow.read() as session:
        return str(
            session.scalar(select(Automation.status).where(Automation.public_id == public_id))
        )


def _pauses(uow: UnitOfWork) -> list[str]:
    """Return how each pause in the audit log was applied, oldest first."""
    with uow.read() as session:
        query = select(AuditEntry).where(AuditEntry.action == "automation.paused")
        return [str(row.details["applied"]) for row in session.scalars(query)]


def _said(reader: Reader, page: str) -> list[str]:
    return texts(tree(reader.get(page)), "#said p")


def test_the_list_says_trigger_status_and_counts(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get("/automations"))
    rows = {words(pick(row, "a")[0]): words(row).split() for row in pick(page, "tbody tr")}
    assert list(rows) == ["New readers", "Win back", "A maze of branches", "Trial lifecycle"]
    assert "“trial_started”" in rows["Trial lifecycle"]
    about = rows["Trial lifecycle"]
    assert about[about.index("Active") :][:4] == ["Active", "7", "4", "2"]
    assert "Paused" in rows["New readers"]


def test_the_list_says_since_when_an_automation_is_live_or_paused(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get("/automations"))
    since = {
        words(pick(row, "a")[0]): texts(row, "td[data-label=Since]")[0]
        for row in pick(page, "tbody tr")
    }
    assert since["Trial lifecycle"].startswith("live since ")
    assert since["New readers"].startswith("paused since ")


def test_the_filter_by_status_stands_in_the_address(owner: Reader, scene: Scene) -> None:
    page = tree(owner.get("/automations?status=paused"))
    assert texts(page, "tbody th a") == ["New readers"]
    assert texts(page, ".tabs [aria-current]") == ["Paused 1"]


def test_the_plan_says_every_step_its_ways_and_who_stands_there(
    owner: Reader, scene: Scene
) -> None:
    page = tree(owner.get(f"/automations/{scene.automations['active']}"))
    assert texts(page, ".plan .station") == [
        "The event “trial_started” arrives 7 entered",
        "Mail “Welcome aboard” 0 here day 0 since entry",
        "Wait 3 days 2 waiting day 3 since entry",
        "onboarding_complete is true? 0 here day 3 since entry"
        " yes → Mail “Your trial ends Friday” no → Mail “Can we help?”",
        "Mail “Can we help?” 0 here day 3 since entry",
        "Wait 4 days 2 waiting day 7 since entry",
        "Mail “Your trial ends Friday” 0 here"
        " day 3 to 7 since entry · Subject: Welcome, {{ contact.first_name }}",
        "End 2 finished",
    ]


def test_a_draft_lists_what_is_missing_and_each_leads_to_its_step(
    owner: Reader, scene: Scene
) -> None:
    address = f"/automations/{scene.automations['draft']}"
    page = tree(owner.get(address))
    found = {a.get("href"): words(a) for a in pick(page, ".bullets a")}
    assert found == {
        f"{address}?step=_start": "Automation trigger is missing required configuration",
        f"{address}?step=mail": "The mail has no template.",
        f"{address}?step=wait": "The wait has no length.",
        f"{address}?step=fork": "The branch has no rule.",
    }
    assert all(pick(tree(owner.get(href)), "#rail-title") for href in found)
    assert not pick(page, "[data-dialog=ask-activate]")


def test_the_dialog_names_the_people_inside_and_who_is_due_within_a_day(
    owner: Reader, waiting: str
) -> None:
    page = tree(owner.get(f"/automations/{waiting}?ask=pause"))
    dialog = one(page, "dialog[open]")
    assert "2 people are inside. 2 become due in the next 24 hours." in words(dialog)
    assert texts(dialog, "button[type=submit]") == ["Pause for 2 people"]


def test_pausing_says_so_and_is_written_down(owner: Reader, uow: UnitOfWork, waiting: str) -> None:
    answer = owner.post(f"/automations/{waiting}/pause")
    assert (answer.status_code, answer.location) == (303, f"/automations/{waiting}")
    assert _said(owner, answer.location) == [
        "Automation paused: “Welcome”. Nobody new enters. 2 people are inside."
        " Whoever becomes due leaves."
    ]
    assert _status(uow, waiting) == "paused"
    assert _pauses(uow) == ["transitioned"]


def test_the_paused_page_says_since_when_and_who_did_it(
    owner: Reader, acme: Town, waiting: str
) -> None:
    owner.post(f"/automations/{waiting}/pause")
    sentence = words(one(tree(owner.get(f"/automations/{waiting}")), ".true-now"))
    assert "Revision 1, paused since" in sentence
    assert sentence.endswith(f"({acme.people['owner']}).")


def test_pressing_twice_changes_once_and_says_so_plainly(
    owner: Reader, acme: Town, uow: UnitOfWork, waiting: str
) -> None:
    owner.post(f"/automations/{waiting}/pause")
    owner.get(f"/automations/{waiting}")
    assert owner.post(f"/automations/{waiting}/pause").status_code == 303
    said = _said(owner, f"/automations/{waiting}")
    assert said == [
        "“Welcome” was paused already; nothing was changed."
        f" {acme.people['owner']} paused it (Mon 2 Mar, 09:00 UTC)."
    ]
    assert _pauses(uow) == ["transitioned", "recorded"]


def test_two_presses_at_once_are_one_change_and_no_error_page(
    app: Flask, acme: Town, uow: UnitOfWork, waiting: str
) -> None:
    readers = [Reader(app), Reader(app)]
    for reader in readers:
        reader.sign_in(acme.people["owner"])
    tokens, together = [reader.token() for reader in readers], Barrier(2)

    def press(number: int) -> int:
        together.wait(10)
        form = {"csrf_token": tokens[number]}
        answer = readers[number].client.post(f"/automations/{waiting}/pause", data=form)
        return answer.status_code

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(press, range(2))) == [303, 303]
    assert _status(uow, waiting) == "paused"
    assert _pauses(uow).count("transitioned") == 1
    said = [_said(reader, f"/automations/{waiting}")[0] for reader in readers]
    assert len(set(said)) == 2, said


def test_activating_freezes_the_draft_and_resuming_keeps_the_revision(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = _draft(uow, acme, clock, making.delay("wait"))
    for act, said in (
        ("activate", "Automation activated: “Thanks”. New people enter from now on."),
        ("pause", "Automation paused: “Thanks”. Nobody new enters. Nobody is inside."),
        ("resume", "Automation resumed: “Thanks”. Nobody was inside."),
    ):
        assert owner.post(f"/automations/{draft}/{act}").status_code == 303
        assert _said(owner, f"/automations/{draft}") == [said]
    with uow.read() as session:
        assert len(session.scalars(select(AutomationRevision)).all()) == 1


def test_an_incomplete_draft_is_refused_with_links_to_what_is_wrong(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        mails.sender(session, acme.workspace_id)
    draft = _draft(uow, acme, clock, making.delay("wait"), making.email("mail", None))
    answer = owner.post(f"/automations/{draft}/activate")
    assert answer.status_code == 409
    note = one(tree(answer), "[role=alert]")
    assert texts(note, "p") == ["It cannot go live: some steps would fail for certain."]
    assert [(a.get("href"), words(a)) for a in pick(note, "a")] == [
        (f"/automations/{draft}?step=mail", "The mail has no template.")
    ]
    assert _status(uow, draft) == "draft"


def test_a_draft_without_steps_is_refused_in_the_seeds_words(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = _draft(uow, acme, clock)
    answer = owner.post(f"/automations/{draft}/activate")
    assert answer.status_code == 409
    assert "Automation must have at least one step to be activated" in answer.text


def test_a_resume_is_refused_for_what_is_gone_in_the_meantime(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    place = acme.workspace_id
    with uow.begin() as session:
        mails.sender(session, place)
        template = mails.template(session, place).public_id
        raw = making.document(making.email("hello", template))
        public_id = making.live(session, place, raw, clock.now()).public_id
    owner.post(f"/automations/{public_id}/pause")
    with uow.begin() as session:
        delivery.delete_template(session, place, template, making.ACTOR, clock.now())
    answer = owner.post(f"/automations/{public_id}/resume")
    assert answer.status_code == 409
    links = [(a.get("href"), words(a)) for a in pick(tree(answer), ".bullets a")]
    step = f"/automations/{public_id}?step=hello"
    assert links == [(step, "The template of the mail no longer exists.")]
    # The page that answers a form still leads to its own dialog.
    opener = one(tree(answer), "[data-dialog=ask-resume]")
    assert opener.get("href") == f"/automations/{public_id}?ask=resume"


@pytest.mark.parametrize("act", ["pause", "resume"])
def test_a_button_that_spoke_of_another_status_does_nothing(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock, act: str
) -> None:
    draft = _draft(uow, acme, clock, making.delay("wait"))
    assert owner.post(f"/automations/{draft}/{act}").status_code == 303
    assert _said(owner, f"/automations/{draft}") == [
        "Automation is not in a state that allows this transition"
    ]
    assert _status(uow, draft) == "draft"


def test_a_form_of_a_foreign_page_changes_nothing(
    owner: Reader, uow: UnitOfWork, waiting: str
) -> None:
    assert owner.client.post(f"/automations/{waiting}/pause").status_code == 400
    assert _status(uow, waiting) == "active"
