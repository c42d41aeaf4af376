"""The editor by plain forms: every edit is saved at once, a wrong one keeps what was typed."""

import pytest
from flask import Flask
from sqlalchemy import select

from engine.core.audit import AuditEntry
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.web.automations.editing import SWAP, Desk, desk
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree


@pytest.fixture
def work(owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Desk:
    """Return a draft: a wait, a branch whose yes leads to the last wait, two waits."""
    return desk(
        owner,
        uow,
        acme,
        clock,
        making.delay("first", 3),
        making.branch("fork", yes="last"),
        making.delay("second", 4),
        making.delay("last", 1, "hours"),
    )


def test_a_step_opens_in_the_rail_by_its_address_and_the_plan_stays(work: Desk) -> None:
    page = tree(work.reader.get(f"{work.page}?step=first"))
    assert words(one(page, "#rail-title")) == "Wait 3 days"
    assert one(page, ".station[aria-current]").get("id") == "at-first"
    assert len(pick(page, ".plan .station")) == 6


def test_a_wait_is_saved_and_the_draft_says_so(work: Desk) -> None:
    answer = work.edit("?step=first", "/steps/first", duration="5", unit="hours")
    assert (answer.status_code, answer.location) == (303, f"{work.page}?step=first")
    assert work.step("first")["config"] == {"duration": 5, "unit": "hours"}
    assert texts(tree(work.reader.get(answer.location)), "#said p") == ["Saved in the draft."]


def test_a_mail_is_saved_with_template_and_subject(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        template = mails.template(session, acme.workspace_id).public_id
    work = desk(owner, uow, acme, clock, making.email("hello", None))
    work.edit("?step=hello", "/steps/hello", template_id=template, subject_override="Hey")
    assert work.step("hello")["config"] == {"template_id": template, "subject_override": "Hey"}


def test_tim_05_saving_seven_in_the_evening_five_times_unchanged_changes_nothing(
    work: Desk, uow: UnitOfWork
) -> None:
    work.edit("?add=last.", "/steps", kind="wait_until")
    evening = {"mode": "window", "opens": "19:00", "weekdays": ["1", "3"]}
    work.edit("?step=wait-until-1", "/steps/wait-until-1", **evening)
    assert work.step("wait-until-1")["config"]["opens"] == "19:00"
    with uow.read() as session:
        told = session.scalars(select(AuditEntry.action)).all().count("automation.updated")
    before, version = work.document(), work.version()
    for _time in range(5):
        for key in work.order():
            assert work.edit(f"?step={key}", f"/steps/{key}").status_code == 303
        assert work.edit("?step=_start", "/trigger").status_code == 303
        assert work.edit("?step=_settings", "/settings").status_code == 303
    assert (work.document(), work.version()) == (before, version)
    with uow.read() as session:
        after = session.scalars(select(AuditEntry.action)).all().count("automation.updated")
    assert after == told == 2


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("many", "This is no number."),
        ("-3", "The number is too small."),
        ("0", "The number is too small."),
    ],
)
def test_a_wrong_length_is_refused_at_its_field_and_kept(work: Desk, typed: str, said: str) -> None:
    answer = work.edit("?step=first", "/steps/first", duration=typed)
    page = tree(answer)
    assert answer.status_code == 422
    field = one(page, "#duration")
    assert (field.get("value"), field.get("aria-invalid")) == (typed, "true")
    assert texts(page, f"#{field.get('aria-describedby')}") == [said]
    assert one(page, "#mistakes a").get("href") == "#duration"
    assert work.step("first")["config"]["duration"] == 3


def test_a_refusal_is_swapped_into_the_rail_alone(work: Desk) -> None:
    data = {**work.form("?step=first", "/steps/first"), "duration": "many"}
    answer = work.send("/steps/first", data, **{**HTMX, "HX-Target": "work"})
    assert answer.status_code == 422
    assert answer.headers["HX-Retarget"] == "#rail"
    assert not pick(tree(answer), ".plan")


def test_a_saved_step_is_swapped_with_its_plan_and_its_address(work: Desk) -> None:
    data = {**work.form("?step=first", "/steps/first"), "duration": "9"}
    answer = work.send("/steps/first", data, **{**HTMX, "HX-Target": "work"})
    assert answer.status_code == 200
    assert answer.headers["HX-Push-Url"] == f"{work.page}?step=first"
    page = tree(answer)
    assert texts(page, "#at-first h3") == ["Wait 9 days"]
    assert not pick(page, "h1")


def test_the_rail_is_swapped_alone(work: Desk) -> None:
    page = tree(work.reader.get(f"{work.page}?step=first", SWAP))
    assert one(page, "#rail").get("data-step") == "first"
    assert not pick(page, ".plan")


def test_the_exits_of_a_branch_lead_where_the_form_says(work: Desk) -> None:
    work.edit("?step=fork", "/steps/fork", yes="end", no="last")
    config = work.step("fork")["config"]
    assert (config["yes"], config["no"]) == ("end", "last")


def test_edt_10_a_step_inserted_above_a_target_leaves_the_branch_on_its_step(work: Desk) -> None:
    work.edit("?add=second.", "/steps", kind="end")
    assert work.order() == ["first", "fork", "second", "end-1", "last"]
    assert work.step("fork")["config"]["yes"] == "last"


@pytest.mark.parametrize(
    ("place", "order"),
    [
        ("_start.", ["delay-1", "first", "fork", "second", "last"]),
        ("first.", ["first", "delay-1", "fork", "second", "last"]),
        ("fork.yes", ["first", "fork", "delay-1", "second", "last"]),
        ("fork.no", ["first", "fork", "delay-1", "second", "last"]),
        ("last.", ["first", "fork", "second", "last", "delay-1"]),
    ],
)
def test_a_step_can_be_inserted_at_every_place(work: Desk, place: str, order: list[str]) -> None:
    places = [str(a.get("href")) for a in pick(tree(work.reader.get(work.page)), ".inserts a")]
    assert f"{work.page}?add={place}" in places
    answer = work.edit(f"?add={place}", "/steps", kind="delay")
    assert answer.location == f"{work.page}?step=delay-1"
    assert work.order() == order


def test_every_kind_can_be_inserted_and_has_a_form_then(work: Desk) -> None:
    offered = pick(tree(work.reader.get(f"{work.page}?add=_start.")), "button[name=kind]")
    kinds = [str(button.get("value")) for button in offered]
    assert len(kinds) >= 6
    for kind in kinds:
        answer = work.edit("?add=_start.", "/steps", kind=kind)
        page = tree(work.reader.get(answer.location))
        assert words(one(page, "#rail-title")), kind
        assert pick(page, "#rail form[data-guard]"), kind


def test_up_and_down_move_a_step_and_duplicate_puts_a_copy_behind(work: Desk) -> None:
    version = str(work.version())
    work.send("/steps/second/move", {"version": version, "to": "down"})
    assert work.order() == ["first", "fork", "last", "second"]
    work.send("/steps/second/move", {"version": str(work.version()), "to": "up"})
    assert work.order() == ["first", "fork", "second", "last"]
    answer = work.edit("?step=first", "/steps/first/duplicate")
    assert answer.location == f"{work.page}?step=delay-1"
    assert work.order() == ["first", "delay-1", "fork", "second", "last"]


def test_a_step_moves_into_another_branch_by_a_select(work: Desk) -> None:
    work.edit("?step=first", "/steps/first/move-to", place="fork.yes")
    assert work.order() == ["fork", "first", "second", "last"]
    assert work.step("fork")["config"] | {"condition": None} == {
        "condition": None, "yes": None, "no": "second",
    }  # fmt: skip
    assert work.step("first")["next"] == "last"


def test_deleting_a_step_that_others_lead_to_asks_where_they_lead_now(work: Desk) -> None:
    opened = tree(work.reader.get(f"{work.page}?step=last"))
    assert texts(opened, "#rail a.btn.stop") == ["Delete…"]
    asked = tree(work.reader.get(f"{work.page}/steps/last/delete"))
    assert texts(asked, "#rail label") == ["Behind “first_name is “Ada”?”, yes"]
    refused = work.send("/steps/last/delete", {"version": str(work.version())})
    assert refused.status_code == 409
    assert "last" in work.order()
    work.send(
        "/steps/last/delete",
        {**work.form("/steps/last/delete", "/steps/last/delete"), "to.fork.yes": "second"},
    )
    assert work.order() == ["first", "fork", "second"]
    assert work.step("fork")["config"]["yes"] == "second"


def test_deleting_can_be_undone_and_done_again(work: Desk) -> None:
    before = work.document()
    work.edit("?step=first", "/steps/first/delete")
    after = work.document()
    page = tree(work.reader.get(work.page))
    assert words(one(page, "[data-keys=undo]")) == "Undo deleting a step"
    work.edit("", "/undo")
    assert work.document() == before
    assert (
        words(one(tree(work.reader.get(work.page)), "[data-keys=redo]")) == "Redo deleting a step"
    )
    work.edit("", "/redo")
    assert work.document() == after


def test_nothing_to_undo_is_said_plainly(work: Desk) -> None:
    assert one(tree(work.reader.get(work.page)), "[data-keys=undo]").get("disabled") is not None
    answer = work.send("/undo", {"version": str(work.version())})
    assert answer.status_code == 303
    said = texts(tree(work.reader.get(answer.location)), "#said p")
    assert said == ["There is nothing to undo."]


def test_the_trigger_is_chosen_and_saved(work: Desk) -> None:
    work.edit("?step=_start", "/trigger", type="contact_created")
    assert work.document()["trigger"] == {"type": "contact_created", "config": {}}


def test_the_settings_are_saved_and_a_missing_number_is_asked_for(work: Desk) -> None:
    answer = work.edit("?step=_settings", "/settings", reentry="days", name="Renamed")
    assert answer.status_code == 422
    assert one(tree(answer), "#name").get("value") == "Renamed"
    assert one(tree(answer), "#days").get("aria-invalid") == "true"
    work.edit("?step=_settings", "/settings", reentry="days", days="30", on_pause="hold")
    document = work.document()
    assert (document["reentry"], document["on_pause"]) == ({"days": 30}, "hold")


def test_a_new_automation_begins_at_its_trigger(owner: Reader) -> None:
    empty = owner.post("/automations/new", {"name": " ", "trigger": "event_received"})
    assert empty.status_code == 422
    name = "<script>alert(1)</script> \u202eright to left 🚂" + "x" * 150
    answer = owner.post("/automations/new", {"name": name, "trigger": "topic_subscribed"})
    assert answer.status_code == 303
    page = tree(owner.get(answer.location))
    assert words(one(page, "h1 bdi")) == name
    assert one(page, "#rail").get("data-step") == "_start"
    assert one(page, "input[name=type][checked]").get("value") == "topic_subscribed"


def test_who_may_not_edit_sees_what_is_in_force_and_no_form(
    app: Flask, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        public_id = making.live(session, acme.workspace_id, raw, clock.now()).public_id
    reader = Reader(app)
    reader.sign_in(acme.people["support"])
    page = tree(reader.get(f"/automations/{public_id}?step=wait"))
    assert pick(page, ".plan")
    assert not pick(page, "#rail-title")
    assert not pick(page, ".inserts")
    for action in ("steps", "steps/wait", "steps/wait/delete", "undo", "trigger", "settings"):
        assert reader.post(f"/automations/{public_id}/{action}").status_code == 403


@pytest.mark.parametrize("role", ["owner", "support"])
def test_edt_11_a_plan_of_20_steps_is_shown_as_20_stations(
    app: Flask, uow: UnitOfWork, acme: Town, clock: FixedClock, role: str
) -> None:
    steps = [making.delay(f"wait{number}", number + 1) for number in range(20)]
    with uow.begin() as session:
        raw = making.document(*steps)
        public_id = making.live(session, acme.workspace_id, raw, clock.now()).public_id
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    page = tree(reader.get(f"/automations/{public_id}"))
    shown = [str(station.get("id")) for station in pick(page, ".plan .station")]
    assert shown == ["at-_start", *(f"at-wait{number}" for number in range(20)), "at-end"]
    assert bool(pick(page, ".inserts")) == (role == "owner")


def test_what_is_in_force_is_shown_apart_from_the_draft(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        raw = making.document(making.delay("wait"))
        public_id = making.live(session, acme.workspace_id, raw, clock.now()).public_id
    work = Desk(owner, uow, acme, public_id)
    work.edit("?step=wait", "/steps/wait", duration="7")
    assert texts(tree(owner.get(work.page)), "#at-wait h3") == ["Wait 7 days"]
    live = tree(owner.get(f"{work.page}?view=live"))
    assert texts(live, "#at-wait h3") == ["Wait 1 day"]
    assert not pick(live, ".inserts")
