"""A whole workspace for tests of pages: automations of every status, people at every kind of stop.

Everything is made by the engine's own verbs and walked by its walkers, so pages show what happens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.models import TopicMembership
from engine.audience.queries import ContactRow
from engine.automations import queries, service
from engine.automations.queries import RunFilter, RunRow
from engine.core.clock import FixedClock
from engine.delivery import queries as delivery
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.factories import delivery as mails

EVENT: Final = "trial_started"
HTML: Final = (
    "<!doctype html><html><body><h1>Hello {{ contact.first_name }}</h1>"
    '<p style="color: #0d5c63">Good to have you.</p>'
    '<img src="https://tracker.example/open.gif" alt=""></body></html>'
)
NAMES: Final = (
    ("Kim", "Arnold"),
    ("Ada", "Lovelace"),
    ("Mara", "Lindt"),
    ("Jo", "Feld"),
    ("Noor", "Haddad"),
    ("Ines", "Okafor"),
)


@dataclass(frozen=True)
class Words:
    """What people type into the free texts of a workspace; a test puts what it likes there."""

    automation: str = "Trial lifecycle"
    description: str = "From the first day of a trial to its end."
    event: str = EVENT
    template: str = "Welcome aboard"
    subject: str = "Welcome, {{ contact.first_name }}"
    topic: str = "News"
    value: str = "team"
    first_name: str = "Kim"
    last_name: str = "Arnold"
    sender: str = "Acme"


@dataclass
class Scene:
    """What was made: public ids by a short name."""

    workspace_id: int
    automations: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    sends: dict[str, str] = field(default_factory=dict)


def full(house: House, clock: FixedClock, workspace_id: int, words: Words | None = None) -> Scene:
    """Return a workspace in which something stands on every page."""
    words, scene = words or Words(), Scene(workspace_id)
    with house.runtime.uow.begin() as session:
        templates = _mails(session, workspace_id, words)
        _definitions(session, workspace_id)
        everybody = _people(session, workspace_id, words)
        _automations(session, scene, templates, words, clock)
        _newsletter(session, scene, everybody[:3], words, clock)
    _history(house, clock, scene, everybody, words)
    with house.runtime.uow.read() as session:
        _note(session, scene, everybody)
    return scene


def walk(house: House) -> None:
    """Take every step and send every mail that is due."""
    house.steps.sweep()
    house.sends.sweep()


def lifecycle(templates: Sequence[str], words: Words) -> dict[str, Any]:
    """Return the document of the automation with mails, waits and a branch."""
    welcome, helping, ending = templates
    rule = {"kind": "contact_property", "field": "onboarding_complete", "operator": "is_true"}
    return {
        "name": words.automation,
        "description": words.description,
        "trigger": {"type": "event_received", "config": {"event_name": words.event}},
        "steps": [
            making.email("hello", welcome),
            making.delay("wait", 3),
            {
                "key": "done",
                "type": "condition",
                "config": {"condition": rule, "yes": "last", "no": None},
            },
            making.email("help", helping),
            making.delay("again", 4),
            {
                "key": "last",
                "type": "email",
                "config": {"template_id": ending, "subject_override": words.subject},
            },
        ],
    }


def _mails(session: Session, workspace_id: int, words: Words) -> tuple[str, str, str]:
    mails.sender(session, workspace_id, name=words.sender)
    texts = (
        (words.template, words.subject),
        ("Can we help?", "Can we help?"),
        ("Your trial ends Friday", "It ends"),
    )
    welcome, helping, ending = (
        mails.template(session, workspace_id, name=name, subject=subject, html=HTML).public_id
        for name, subject in texts
    )
    return welcome, helping, ending


def _definitions(session: Session, workspace_id: int) -> None:
    for key, kind in (("onboarding_complete", "boolean"), ("plan", "text"), ("seats", "number")):
        people.custom_property(session, workspace_id, key, kind)


def _people(session: Session, workspace_id: int, words: Words) -> list[ContactRow]:
    found = []
    for number, (first, last) in enumerate(NAMES):
        named = {"first_name": first, "last_name": last}
        if number == 0:
            named = {"first_name": words.first_name, "last_name": words.last_name}
        found.append(
            people.contact(
                session,
                workspace_id,
                f"{first.lower()}.{last.lower()}@partner.example",
                {"onboarding_complete": number % 2 == 1, "plan": words.value, "seats": 12},
                external_id=f"C-{20418 + number}",
                language="de",
                timezone="Europe/Berlin",
                **named,
            )
        )
    # Without an address: a mail to them fails.
    found.append(
        people.contact(session, workspace_id, None, external_id="C-30000", first_name="Nobody")
    )
    return found


def _automations(
    session: Session,
    scene: Scene,
    templates: tuple[str, str, str],
    words: Words,
    clock: FixedClock,
) -> None:
    at, place = clock.now(), scene.workspace_id
    trial = making.live(session, place, lifecycle(templates, words), at)
    scene.automations["active"] = trial.public_id
    # A loop back and branches in branches, for the plan.
    maze = making.document(
        making.branch("outer", yes="far", no=None),
        making.branch("inner", yes="near", no=None),
        making.email("first", templates[0]),
        making.email("near", templates[1]),
        making.delay("pause", 2, "hours"),
        making.branch("again", yes="inner", no=None),
        making.end("stop"),
        making.email("far", templates[2]),
        name="A maze of branches",
        trigger={"type": "contact_updated", "config": {"property_key": "plan"}},
    )
    scene.automations["maze"] = making.live(session, place, maze, at).public_id
    draft = making.document(
        making.email("mail", None),
        {"key": "wait", "type": "delay", "config": {}},
        {"key": "fork", "type": "condition", "config": {}},
        name="Win back",
        trigger={"type": "event_received", "config": {}},
    )
    saved = service.create(session, place, draft, making.ACTOR, at)
    assert isinstance(saved, service.Saved)
    scene.automations["draft"] = saved.public_id


def _newsletter(
    session: Session,
    scene: Scene,
    members: Sequence[ContactRow],
    words: Words,
    clock: FixedClock,
) -> None:
    """Make a topic with members, the automation it starts, and pause that with people inside."""
    at, place = clock.now(), scene.workspace_id
    topic = people.topic(session, place, words.topic)
    raw = making.document(
        making.delay("settle", 30, "minutes"),
        making.delay("long", 1.5, "weeks"),
        name="New readers",
        trigger={"type": "topic_subscribed", "config": {"topic_id": topic.public_id}},
    )
    scene.automations["paused"] = making.live(session, place, raw, at).public_id
    for member in members:
        audience.subscribe(session, place, topic.public_id, member.public_id, "api", at)
    session.execute(
        update(TopicMembership)
        .where(
            TopicMembership.workspace_id == place,
            TopicMembership.contact_id == members[-1].row_id,
        )
        .values(pending_doi_confirmation=True)
    )


def _history(
    house: House,
    clock: FixedClock,
    scene: Scene,
    everybody: Sequence[ContactRow],
    words: Words,
) -> None:
    """Let a week pass: some finish, one waits, one fails, one is refused by the mail server."""
    uow, place = house.runtime.uow, scene.workspace_id
    for person in (*everybody[:4], everybody[-1]):
        with uow.begin() as session:
            making.fire(session, place, [person], clock.now(), words.event, seats=3)
        if person is everybody[0]:
            walk(house)
        clock.advance(timedelta(minutes=7))
    walk(house)
    for _try in range(3):
        clock.advance(timedelta(seconds=31))
        house.steps.sweep()
    clock.advance(timedelta(seconds=31))
    with uow.begin() as session:
        wish = service.Wish("paused")
        service.move(session, place, scene.automations["paused"], wish, making.ACTOR, clock.now())
    for days in (3, 1):
        clock.advance(timedelta(days=days))
        walk(house)
    with uow.begin() as session:
        making.fire(session, place, everybody[4:6], clock.now(), words.event)
    walk(house)


def _note(session: Session, scene: Scene, everybody: Sequence[ContactRow]) -> None:
    place = scene.workspace_id
    scene.people = {"first": everybody[0].public_id, "bare": everybody[-1].public_id}
    rows, _following = queries.page_runs(session, place, RunFilter(), limit=200)
    scene.runs = {_kind(row): row.public_id for row in rows}
    sends = _sends(session, place)
    scene.sends = {"first": sends[0], "last": sends[-1]}


def _kind(row: RunRow) -> str:
    """Return a short name for a run: how it stands, and why."""
    if row.status != "running":
        return row.ended_reason or row.status
    return f"at {row.step_key}"


def _sends(session: Session, workspace_id: int) -> list[str]:
    rows, _following = delivery.page_sends(session, workspace_id, limit=200)
    return [row.public_id for row in rows]
