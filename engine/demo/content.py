"""What the sample workspace holds: plain values, no rows. Every address ends in `.example`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from engine.audience.inputs import ContactInput, PropertyInput, TopicInput
from engine.delivery.models import MARKETING, SERVICE
from engine.delivery.service import TemplateInput

# The automations are older than everything that happened to the people (decision A2).
AUTOMATIONS_AGE: Final = timedelta(days=5)
TRIAL_EVENT: Final = "trial_started"

PROPERTIES: Final = (
    PropertyInput("plan", "text", "Plan"),
    PropertyInput("onboarding_complete", "boolean", "Onboarding complete"),
)
TOPIC: Final = TopicInput(
    name="Product news", description="What is new, once a month", require_double_opt_in=False
)
_HELLO: Final = "<p>Hello {{ contact.first_name | default: 'there' }},</p>"
_LEAVE: Final = '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>'
TEMPLATES: Final = {
    "hello": TemplateInput(
        name="Trial: hello",
        subject="{{ contact.first_name | default: 'Hello' }}, your trial has begun",
        html=_HELLO + "<p>your trial of the {{ event.plan | default: 'free' }} plan has begun. "
        "It ends in 14 days, by itself.</p>",
        purpose=SERVICE,
    ),
    "first-steps": TemplateInput(
        name="Trial: first steps",
        subject="Three things to try first",
        html=_HELLO + "<ol><li>Bring in your people.</li>"
        "<li>Draw an automation.</li><li>Read its log.</li></ol>",
        purpose=SERVICE,
    ),
    "help": TemplateInput(
        name="Trial: a hand",
        subject="Shall we set it up together?",
        html=_HELLO + "<p>reply to this mail, and we find half an hour for you.</p>",
        purpose=SERVICE,
    ),
    "news": TemplateInput(
        name="News: welcome",
        subject="Welcome to our product news",
        html=_HELLO + "<p>one mail a month, promised.</p>" + _LEAVE,
        purpose=MARKETING,
    ),
    "best-of": TemplateInput(
        name="News: the best of last year",
        subject="What the others have read",
        html=_HELLO + "<p>three articles worth a coffee.</p>" + _LEAVE,
        purpose=MARKETING,
    ),
    "team": TemplateInput(
        name="Check-in: teams",
        subject="How do you share the work, {{ contact.first_name }}?",
        html=_HELLO + "<p>teams like yours begin with roles.</p>",
        purpose=SERVICE,
    ),
    "solo": TemplateInput(
        name="Check-in: one person",
        subject="How are things, {{ contact.first_name }}?",
        html=_HELLO + "<p>is anything in your way?</p>",
        purpose=SERVICE,
    ),
}


@dataclass(frozen=True)
class Person:
    """A sample person and how long ago things happened; None: it did not happen."""

    contact: ContactInput
    created: timedelta
    trial: timedelta | None
    subscribed: timedelta | None


_NAMES: Final = (
    "Ada Berger", "Bruno Falk", "Clara Seidel", "David Ortiz", "Elif Kaya", "Fritz Lindner",
    "Grace Obi", "Hanna Vogt", "Igor Petrov", "Jana Novak", "Karl Brandt", "Lena Hoff",
    "Marco Rossi", "Nora Winter", "Otto Kramer", "Paula Santos", "Quentin Roy", "Rosa Klein",
    "Sami Haddad", "Tilda Berg", "Uwe Sommer", "Vera Lang", "Willem Smit", "Xenia Roth",
    "Yusuf Demir", "Zoe Martin", "Anton Weber", "Britta Hahn", "Chloe Petit", "Dirk Jansen",
)  # fmt: skip
_ZONES: Final = ("Europe/Berlin", "Europe/Vienna", "Europe/Paris", "America/New_York")
CHECK_IN: Final = timedelta(days=2)
WARM_UP: Final = timedelta(minutes=2)
COOL_OFF: Final = timedelta(days=1)


def people() -> Sequence[Person]:
    """Return 30 people in different places: some waited long enough, others have yet to."""
    return [_person(number, *name.split(" ")) for number, name in enumerate(_NAMES)]


def _person(number: int, first: str, last: str) -> Person:
    contact = ContactInput(
        email=f"{first}.{last}@person.example".lower(),
        first_name=first,
        last_name=last,
        language="de" if number % 2 else "en",
        timezone=_ZONES[number % len(_ZONES)],
        properties={
            "plan": "team" if number % 3 else "solo",
            "onboarding_complete": number % 4 == 0,
        },
    )
    created = _age(number, CHECK_IN)
    return Person(
        contact,
        created=created,
        trial=WARM_UP - timedelta(seconds=8 * (number - 9)) if 9 <= number < 23 else None,
        subscribed=min(_age(number * 2 % 30, COOL_OFF), created) if number % 3 == 0 else None,
    )


def _age(number: int, wait: timedelta) -> timedelta:
    """Return an age around `wait`: ten are over it, ten reach it in minutes, ten in hours."""
    if number < 10:
        return wait + timedelta(hours=number)
    if number < 20:
        return wait - timedelta(seconds=40 * (number - 9))
    return wait - timedelta(hours=2 * (number - 19))


def automations(templates: dict[str, str], topic: str) -> Sequence[dict[str, Any]]:
    """Return the three documents. templates: public ids by name; topic: its public id."""

    def email(key: str, template: str, following: str | None = None) -> dict[str, Any]:
        config = {"template_id": templates[template]}
        return {"key": key, "type": "email", "config": config, "next": following}

    return [
        {
            "name": "Trial onboarding",
            "trigger": {"type": "event_received", "config": {"event_name": TRIAL_EVENT}},
            "steps": [
                _delay("warm-up", 2, "minutes"),
                email("hello", "hello"),
                _delay("half-a-minute", 0.5, "minutes"),
                email("first-steps", "first-steps"),
                _delay("a-moment", 1.5, "minutes"),
                _ask("done", "onboarding_complete", "is_true", yes="end"),
                email("help", "help"),
                _delay("three-days", 3, "days"),
                email("again", "help"),
            ],
        },
        {
            "name": "News welcome",
            "trigger": {"type": "topic_subscribed", "config": {"topic_id": topic}},
            "steps": [
                _delay("a-day", 1, "days"),
                email("welcome", "news"),
                _delay("a-week", 1, "weeks"),
                email("best-of", "best-of"),
            ],
        },
        {
            "name": "Check-in after two days",
            "trigger": {"type": "contact_created"},
            "steps": [
                _delay("two-days", 2, "days"),
                _ask("plan", "plan", "equals", value="team", yes="team"),
                email("solo", "solo", "wait"),
                email("team", "team"),
                _delay("wait", 4, "days"),
                email("once-more", "solo"),
            ],
        },
    ]


def _delay(key: str, duration: float, unit: str) -> dict[str, Any]:
    return {"key": key, "type": "delay", "config": {"duration": duration, "unit": unit}}


def _ask(
    key: str, field: str, operator: str, *, yes: str, value: str | None = None
) -> dict[str, Any]:
    condition = {"kind": "contact_property", "field": field, "operator": operator}
    if value is not None:
        condition["value"] = value
    return {"key": key, "type": "condition", "config": {"condition": condition, "yes": yes}}
