"""Runs of an automation that is or was paused: held, skipped at the resume, left (decision A11)."""

from datetime import timedelta

import pytest

from engine.audience import service as audience
from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.picking import one, texts, words
from tests.web.support import Reader, Town, tree

HOUR = timedelta(hours=1)


class Place:
    """One person who waits an hour, then another day, and a console before it."""

    def __init__(
        self, owner: Reader, house: House, uow: UnitOfWork, town: Town, clock: FixedClock
    ) -> None:
        self.owner, self.house, self.uow, self.clock = owner, house, uow, clock
        self.workspace_id = town.workspace_id
        self.automation = self.person = ""

    def enter(self, on_pause: str) -> str:
        """Return the run of somebody who just entered an automation with this rule."""
        with self.uow.begin() as session:
            steps = (making.delay("wait", 1, "hours"), making.delay("more"))
            raw = making.document(*steps, on_pause=on_pause)
            row = making.live(session, self.workspace_id, raw, self.clock.now())
            person = people.contact(session, self.workspace_id, first_name="Ada")
            self.clock.advance(timedelta(seconds=1))
            making.fire(session, self.workspace_id, [person], self.clock.now())
            self.automation, self.person = row.public_id, person.public_id
            return making.runs(session, row)[0].public_id

    def pause(self) -> None:
        assert self.owner.post(f"/automations/{self.automation}/pause").status_code == 303

    def resume(self, **choice: str) -> None:
        path = f"/automations/{self.automation}/resume"
        assert self.owner.post(path, data=choice).status_code == 303

    def pass_by(self, span: timedelta) -> None:
        self.clock.advance(span)
        self.house.steps.sweep()

    def log(self, run: str) -> list[str]:
        return texts(tree(self.owner.get(f"/runs/{run}")), ".log .said")


@pytest.fixture
def place(owner: Reader, house: House, uow: UnitOfWork, acme: Town, clock: FixedClock) -> Place:
    return Place(owner, house, uow, acme, clock)


def test_a_person_whose_time_has_come_on_hold_is_held_and_nothing_else_is_said(
    place: Place,
) -> None:
    run = place.enter("hold")
    place.pause()
    page = tree(place.owner.get(f"/runs/{run}"))
    assert words(one(page, ".note.hold")) == (
        "The automation is paused since Mon 2 Mar, 09:00 UTC ."
        " Once this step is due, the person is held here until somebody resumes it."
    )
    place.clock.advance(3 * HOUR)
    _says_held(place, run)
    place.house.steps.sweep()  # which parks the person
    _says_held(place, run)
    assert any("step 1 · Held" in line for line in place.log(run))


def _says_held(place: Place, run: str) -> None:
    page = tree(place.owner.get(f"/runs/{run}"))
    assert words(one(page, ".note.hold")) == (
        "The automation is paused since Mon 2 Mar, 09:00 UTC ."
        " This person is held here until somebody resumes it."
    )
    assert "Held" in texts(page, ".sig")
    assert "Was due Mon 2 Mar, 10:00 UTC , 2 hours ago." in words(one(page, ".true-now"))
    assert "Held" in texts(tree(place.owner.get("/runs")), "tbody .sig")


def test_a_step_that_a_resume_skipped_says_who_resumed_and_nothing_of_another_way(
    place: Place,
) -> None:
    run = place.enter("hold")
    place.pause()
    place.pass_by(2 * HOUR)
    place.resume(resume="skip")
    place.house.steps.sweep()
    (line,) = [line for line in place.log(run) if line.startswith("Wait 1 hour")]
    assert line.startswith("Wait 1 hour: skipped step 1 · Skipped")
    assert line.endswith(" resumed the automation.")
    assert "Skipped when " in line
    assert "leads past" not in line


@pytest.mark.parametrize("stop", [False, True])
def test_whoever_left_because_of_a_pause_is_told_as_left_and_not_as_failed(
    place: Place, stop: bool
) -> None:
    run = place.enter("cancel")
    if stop:
        with place.uow.begin() as session:
            wish = service.Wish("paused", cancel_inside=True)
            service.move(
                session, place.workspace_id, place.automation, wish, making.ACTOR, place.clock.now()
            )
        reason = "Cut short: the run ended while this step was waiting."
        ending = "The automation was stopped, and everybody inside with it."
    else:
        place.pause()
        place.pass_by(2 * HOUR)
        reason = "It became due while the automation was paused."
        ending = "The step became due while the automation was paused."
    log = place.log(run)
    (line,) = [line for line in log if line.startswith("Wait 1 hour")]
    assert line.startswith("Wait 1 hour: left here step 1 · Left")
    assert line.endswith(reason)
    assert log[-1] == f"Ended early {ending}"
    page = tree(place.owner.get(f"/runs/{run}"))
    assert not texts(page, ".log li.stop, .plan li.failed, .sig.stop")
    assert "late" not in line
    assert texts(tree(place.owner.get("/runs")), "tbody td")[-1] == "–"
    story = tree(place.owner.get(f"/people/{place.person}"))
    assert f"Left the automation “Welcome” early {ending}" in texts(story, ".log li.off .said")


def test_a_person_who_was_deleted_left_and_nothing_failed(place: Place) -> None:
    run = place.enter("cancel")
    with place.uow.begin() as session:
        audience.delete_contact(
            session, place.workspace_id, place.person, making.ACTOR, place.clock.now()
        )
    place.pass_by(2 * HOUR)
    assert any(line.startswith("Wait 1 hour: left here") for line in place.log(run))


def test_a_run_that_a_publish_moved_says_with_which_revision_it_entered_and_when_it_moved(
    place: Place,
) -> None:
    run = place.enter("hold")
    place.clock.advance(timedelta(minutes=10))
    with place.uow.begin() as session:
        steps = (making.delay("wait", 2, "hours"), making.delay("more"))
        raw = making.document(*steps, on_pause="hold")
        at, workspace_id = place.clock.now(), place.workspace_id
        row = service.find(session, workspace_id, place.automation)
        assert row is not None
        version = row.draft_version
        service.save(session, workspace_id, row.public_id, raw, version, making.ACTOR, at)
        done = service.publish(
            session, place.workspace_id, place.automation, service.MOVE, making.ACTOR, at
        )
        assert isinstance(done, service.Published), done
    head = words(one(tree(place.owner.get(f"/runs/{run}")), ".true-now"))
    assert head.startswith(
        "Entered Mon 2 Mar, 09:00 UTC with revision 1."
        " Moved to revision 2 Mon 2 Mar, 09:10 UTC . At step 1 of 2."
    )
    assert "Moved to revision 2 It was published, and whoever waited was moved to it." in (
        place.log(run)
    )


def test_a_run_that_began_after_the_publish_was_never_moved(place: Place) -> None:
    run = place.enter("hold")
    assert "Moved" not in words(one(tree(place.owner.get(f"/runs/{run}")), ".true-now"))


@pytest.mark.parametrize(
    ("choice", "how"),
    [
        ("shift", "Waits were shifted by 2 hours."),
        ("overdue", "1 overdue person goes on at once."),
        ("skip", "1 overdue person skips to the next wait."),
    ],
)
def test_pauses_and_resumes_stand_in_the_log_between_the_steps(
    place: Place, choice: str, how: str
) -> None:
    run = place.enter("hold")
    place.pass_by(timedelta(minutes=30))
    place.pause()
    place.pass_by(2 * HOUR)
    place.resume(resume=choice)
    log = place.log(run)
    assert log[1].startswith("Waiting 1 hour step 1")
    assert log[2].startswith("Automation paused (")
    assert log[2].endswith("Whoever becomes due is held.")
    assert log[3].startswith("Automation resumed (")
    assert log[3].endswith(how)


def test_what_was_done_before_the_person_entered_or_after_it_left_is_not_in_the_log(
    place: Place,
) -> None:
    run = place.enter("cancel")
    place.pass_by(2 * HOUR)
    place.pass_by(timedelta(days=2))
    place.pass_by(timedelta(minutes=1))
    place.pause()
    place.pause()
    assert not [line for line in place.log(run) if "paused" in line]
    assert place.log(run)[-1].startswith("Finished")


def test_a_stop_and_a_press_that_changed_nothing_are_told_once(place: Place) -> None:
    run = place.enter("hold")
    place.clock.advance(timedelta(minutes=1))
    place.pause()
    place.clock.advance(timedelta(minutes=1))
    place.pause()
    with place.uow.begin() as session:
        wish = service.Wish("paused", cancel_inside=True)
        service.move(
            session, place.workspace_id, place.automation, wish, making.ACTOR, place.clock.now()
        )
    told = [line.split(" (")[0] for line in place.log(run) if line.startswith("Automation ")]
    assert told == ["Automation paused", "Automation stopped"]
