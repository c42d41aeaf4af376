"""A simulated person goes the way that the real one goes, and nothing is written for it."""

import socket
from datetime import timedelta

import pytest

from engine.accounts.models import Workspace
from engine.audience import service as audience
from engine.audience.service.opting_out import PUBLIC_EMAIL_LINK
from engine.automations.simulating import (
    Simulation,
)
from engine.automations.somebody import Somebody, invented, of_contact
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from engine.core.unit_of_work import UnitOfWork
from tests.engine.automations.trying import Office, Step, joins, member, rule, sets
from tests.factories import accounts
from tests.factories import audience as people
from tests.factories import automations as make
from tests.support.untouched import untouched


@pytest.fixture
def office(uow: UnitOfWork, clock: FixedClock) -> Office:
    """Return the office."""
    return Office(uow, clock)


def keys(found: Simulation) -> list[str]:
    """Return the way by its keys."""
    return [visit.key for visit in found.visits]


def test_a_simulated_way_is_the_way_of_the_real_run(office: Office) -> None:
    steps = (
        rule("team", "plan", "equals", "TEAM", no="last"),
        make.delay("wait", 1.5),
        sets("change", plan="pro", seats=20, first_name="Mara", vip=True),
        rule("pro", "plan", "equals", "pro", no="last"),
        joins("join", office.topic),
        joins("again", office.topic),
        member("is_in", office.topic, no="last"),
        joins("leave", office.topic, "unsubscribe"),
        member("is_out", office.topic, yes="last"),
        joins("careful", office.careful),
        rule("vip", "vip", "is_true", no="last"),
        rule("named", "first_name", "equals", "mara", no="last"),
        make.delay("hours", 12, "hours"),
        make.email("last", office.template),
    )
    found = office.simulated(*steps)
    real = office.walked(*steps)
    entered = found.visits[0].arrives
    assert [(visit.key, visit.result, visit.leaves - entered) for visit in found.visits] == real
    assert len(real) == len(steps)
    assert (found.ended, found.total) == ("finished", timedelta(days=2))
    assert found.after.sketch.fields["first_name"] == "Mara"


def test_a_stamp_bears_the_time_of_the_virtual_clock(office: Office) -> None:
    with office.uow.begin() as session:
        people.custom_property(session, office.workspace, "seen_at", "instant")
    step = {"key": "stamp", "type": "update_contact", "config": {"stamps": ["seen_at"]}}
    found = office.simulated(make.delay("wait", 2), step)
    later = office.clock.now() + timedelta(days=2)
    stored = later.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert found.visits[1].result == {
        "changes": [{"key": "seen_at", "before": None, "after": stored}]
    }
    assert found.after.sketch.values["seen_at"].instant == later


def test_the_mail_is_shown_as_it_would_be_and_says_what_is_missing(office: Office) -> None:
    found = office.simulated(make.email("hello", office.template), event={"seats": 3})
    mail = found.visits[0].mail
    assert mail is not None
    assert (mail.subject, mail.to) == ("Hello Kim", "kim@people.example")
    assert "Kim team 3" in mail.html
    assert mail.missing == ()
    without = office.simulated(make.email("hello", office.template)).visits[0].mail
    assert without is not None
    assert without.missing == ("event.seats",)


def test_a_subject_of_the_step_replaces_that_of_the_template(office: Office) -> None:
    step = make.email("hello", office.template)
    step["config"]["subject_override"] = "Dear {{ contact.first_name }}"
    mail = office.simulated(step).visits[0].mail
    assert mail is not None
    assert mail.subject == "Dear Kim"


def test_who_opted_out_would_get_nothing_until_a_subscription_takes_it_back(
    office: Office,
) -> None:
    with office.uow.begin() as session:
        audience.opt_out(
            session, office.workspace, office.kim.public_id, PUBLIC_EMAIL_LINK, office.clock.now()
        )
    found = office.simulated(
        make.email("before", office.template),
        joins("join", office.topic),
        make.email("after", office.template),
    )
    assert [visit.reason for visit in found.visits] == ["unsubscribed", None, None]
    assert found.ended == "finished"


def test_a_suppressed_address_would_get_nothing(office: Office) -> None:
    with office.uow.begin() as session:
        people.suppression(session, office.workspace, "kim@people.example")
    assert office.simulated(make.email("m", office.template)).visits[0].reason == "suppressed"


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (make.email("m", None), "NO_TEMPLATE"),
        (make.email("m", "missing"), "TEMPLATE_NOT_FOUND"),
        ({"key": "m", "type": "delay", "config": {}}, "DELAY_WITHOUT_DURATION"),
        ({"key": "m", "type": "condition", "config": {}}, "CONDITION_MISSING"),
        ({"key": "m", "type": "topic", "config": {}}, "NO_TOPIC"),
        (joins("m", "nowhere"), "TOPIC_NOT_FOUND"),
        (sets("m", unknown="x"), "PROPERTY_NOT_FOUND"),
        (sets("m", seats="many"), "INVALID_VALUE"),
    ],
)
def test_a_step_that_would_fail_ends_the_way_and_says_why(
    office: Office, step: Step, code: str
) -> None:
    found = office.simulated(make.delay("first"), step, make.delay("never"))
    assert found.ended == "step_failed"
    assert keys(found) == ["first", "m"]
    assert found.visits[-1].error is not None
    assert found.visits[-1].error.code == code
    assert found.total == timedelta(days=1)


def test_somebody_without_an_address_gets_no_mail(office: Office) -> None:
    with office.uow.read() as session:
        who = invented(session, office.workspace, {"first_name": "Ada"}, {"plan": "pro"})
    assert isinstance(who, Somebody)
    error = office.simulated(make.email("m", office.template), who=who).visits[0].error
    assert error is not None
    assert error.code == "NO_ADDRESS"


def test_an_invented_person_is_judged_like_a_real_one(office: Office) -> None:
    with office.uow.read() as session:
        wrong = invented(session, office.workspace, {"email": "no address"}, {"seats": "many"})
        unknown = invented(session, office.workspace, {}, {"nothing": 1})
        sound = invented(
            session, office.workspace, {"email": "Ada@People.example"}, {"seats": "12"},
            [office.topic], opened=True,
        )  # fmt: skip
    assert isinstance(wrong, Refused)
    assert [fault.pointer for fault in wrong.problems] == ["/email", "/properties/seats"]
    assert isinstance(unknown, Refused)
    assert unknown.problems[0].code == "unknown_property"
    assert isinstance(sound, Somebody)
    way = office.simulated(
        member("in", office.topic, no="end"),
        rule("many", "seats", "gte", 12, no="end"),
        rule("known", "email", "equals", "ada@people.example", no="end"),
        rule("from", "source", "equals", "console", no="end"),
        make.email("m", office.template),
        who=sound,
    )
    assert keys(way) == ["in", "many", "known", "from", "m"]
    assert way.ended == "finished"


def test_a_loop_ends_where_a_run_would_be_stopped(office: Office) -> None:
    found = office.simulated(
        make.delay("wait"), rule("round", "plan", "equals", "team", yes="wait")
    )
    assert found.ended == "loop_cap"
    assert len(found.visits) == 100
    assert found.total == timedelta(days=50)


def test_an_end_in_the_middle_ends_the_way(office: Office) -> None:
    found = office.simulated(make.end("stop"), make.delay("never"))
    assert (keys(found), found.ended) == (["stop"], "finished")


def test_a_document_without_steps_ends_at_once(office: Office) -> None:
    found = office.simulated()
    assert (found.visits, found.ended, found.total) == ((), "finished", timedelta(0))


def test_a_choice_that_the_step_does_not_know_counts_for_nothing(office: Office) -> None:
    found = office.simulated(make.delay("wait"), choices={"wait": "heard", "other": "x"})
    assert [visit.taken for visit in found.visits] == [None]


def test_an_unknown_or_foreign_contact_is_nobody(office: Office) -> None:
    with office.uow.begin() as session:
        other: Workspace = accounts.workspace(session, "Other")
        theirs = people.contact(session, other.id).public_id
    with office.uow.read() as session:
        assert of_contact(session, office.workspace, theirs) is None
        assert of_contact(session, office.workspace, "'; --") is None


def test_untouched_finds_a_row_and_a_socket(office: Office) -> None:
    with pytest.raises(AssertionError), untouched(office.uow), office.uow.begin() as session:
        people.contact(session, office.workspace)
    refused = pytest.raises(AssertionError, match="connected")
    with socket.socket() as opened, refused, untouched(office.uow):
        opened.connect(("127.0.0.1", 9))
