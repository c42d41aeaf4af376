"""Every kind of the engine has a form that shows its configuration and reads it back unchanged."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, render_template
from lxml import html
from werkzeug.datastructures import MultiDict

from engine.automations.kinds.steps import KINDS as STEPS
from engine.automations.kinds.triggers import KINDS as TRIGGERS
from engine.rules.kinds import CONDITIONS
from tests.web.picking import one, pick
from web.automations.kinds.base import Choices, KindForm, PropertyChoice
from web.automations.kinds.condition_forms import CONDITION_FORMS
from web.automations.kinds.step_forms import STEP_FORMS
from web.automations.kinds.trigger_forms import TRIGGER_FORMS

CHOICES = Choices(
    templates=[("t1", "Welcome")],
    topics=[("n1", "News")],
    secrets=[("s1", "Hook")],
    events=["paid", "Trial <started>"],
    properties=[
        PropertyChoice("first_name", "First name", "text"),
        PropertyChoice("age", "Age", "number"),
        PropertyChoice("vip", "VIP", "boolean"),
        PropertyChoice("born", "Born", "instant"),
    ],
)
FAMILIES: list[tuple[Any, Any]] = [
    (STEPS, STEP_FORMS),
    (TRIGGERS, TRIGGER_FORMS),
    (dict(CONDITIONS.items()), CONDITION_FORMS),
]
STEP_SAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("email", {"template_id": "t1", "subject_override": "Hey {{ contact.first_name }}"}),
    ("email", {"template_id": "gone", "subject_override": None}),
    ("delay", {"duration": 3, "unit": "days"}),
    ("delay", {"duration": 1.5, "unit": "weeks"}),
    ("update_contact", {"changes": {"first_name": "Ada", "age": 41, "vip": True, "born": None}}),
    ("update_contact", {"changes": {"gone": False, "age": "many"}}),
    ("update_contact", {"changes": {}, "stamps": ["born", "lost"]}),
    ("update_contact", {"changes": {"age": 7}, "stamps": []}),
    ("topic", {"topic_id": "n1", "action": "unsubscribe"}),
    ("condition", {"condition": None}),
    (
        "condition",
        {
            "condition": {
                "kind": "contact_property",
                "field": "age",
                "operator": "gte",
                "value": 18,
            }
        },
    ),
    (
        "condition",
        {"condition": {"kind": "contact_property", "field": "vip", "operator": "is_true"}},
    ),
    (
        "condition",
        {"condition": {"kind": "topic_membership", "topic_id": "n1", "operator": "not_equals"}},
    ),
    (
        "condition",
        {"condition": {"kind": "email_activity", "field": "clicked", "operator": "is_false"}},
    ),
    (
        "wait_until",
        {"mode": "event", "event_name": "paid", "limit_duration": 2.5, "limit_unit": "weeks"},
    ),
    (
        "wait_until",
        {"mode": "window", "weekdays": [1, 2, 3, 4], "opens": "10:00", "closes": None},
    ),
    (
        "webhook",
        {
            "url": "https://shop.example/hook",
            "method": "PUT",
            "body": '{"name": "{{ contact.first_name }}"}',
            "headers": {"X-Team": "sales", "X-Two": "a: b"},
            "secret_id": "s1",
        },
    ),
    ("slack", {"secret_id": "gone", "text": "{{ contact.email }} paid"}),
    ("random_split", {"shares": {"a": 70, "b": 30}}),
    ("random_split", {"shares": {"a": 20, "b": 20, "c": 20, "d": 20, "e": 20}}),
    ("end", {}),
]
TRIGGER_SAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("event_received", {"event_name": "trial_started"}),
    ("contact_created", {}),
    ("contact_updated", {"property_key": "age"}),
    ("topic_subscribed", {"topic_id": "n1"}),
    (
        "date_reached",
        {"property_key": "born", "offset_days": -7, "time": "08:30", "yearly": True},
    ),
]


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


@pytest.mark.parametrize(("engine", "forms"), FAMILIES, ids=["steps", "triggers", "conditions"])
def test_every_kind_of_the_engine_has_a_form(engine: Any, forms: Any) -> None:
    assert set(forms) == set(engine)


@pytest.mark.parametrize(("engine", "forms"), FAMILIES, ids=["steps", "triggers", "conditions"])
def test_a_form_has_a_field_for_everything_but_the_exits(engine: Any, forms: Any) -> None:
    for name, kind in engine.items():
        wanted = set(kind.Config.model_fields)
        if engine is STEPS:
            for sample in (config for of, config in STEP_SAMPLES if of == name):
                wanted -= set(kind.branches(kind.Config.model_validate(sample)))
        form = forms.get(name).fill({}, CHOICES)
        assert {f"{name}.{field}" for field in wanted - set(form._fields)} == set()


@pytest.mark.parametrize(("engine", "forms"), FAMILIES, ids=["steps", "triggers", "conditions"])
def test_every_kind_says_what_it_is_for(engine: Any, forms: Any) -> None:
    for name in engine:
        assert str(forms.get(name).label)
        assert str(forms.get(name).about).endswith(".")


@pytest.mark.parametrize(("kind", "config"), STEP_SAMPLES)
def test_a_form_of_a_step_reads_back_what_it_shows(kind: str, config: dict[str, Any]) -> None:
    assert _round(STEP_FORMS.get(kind), config) == config


@pytest.mark.parametrize(("kind", "config"), TRIGGER_SAMPLES)
def test_a_form_of_a_trigger_reads_back_what_it_shows(kind: str, config: dict[str, Any]) -> None:
    assert _round(TRIGGER_FORMS.get(kind), config) == config


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (TRIGGER_FORMS.get("event_received"), {}),
        (STEP_FORMS.get("wait_until"), {"mode": "event"}),
    ],
)
def test_names_of_events_seen_lately_are_offered(kind: KindForm, part: dict[str, Any]) -> None:
    form = kind.fill(part, CHOICES)
    page = html.document_fromstring(render_template(kind.template, form=form, panel={}))
    listed = one(page, "input[name=event_name]").get("list")
    offered = [each.get("value") for each in pick(page, f"#{listed} option")]
    assert offered == ["paid", "Trial <started>"]


def test_samples_cover_every_kind() -> None:
    assert {kind for kind, _config in STEP_SAMPLES} == set(STEPS)
    assert {kind for kind, _config in TRIGGER_SAMPLES} == set(TRIGGERS)


def _round(kind: KindForm, config: dict[str, Any]) -> dict[str, Any]:
    """Return what comes back when a browser sends the form as it stands."""
    shown = kind.fill(config, CHOICES)
    sent = MultiDict(_sent(shown))
    for part in getattr(shown, "parts", {}).values():
        sent.update(_sent(part))
    return kind.read(kind.fill(config, CHOICES, sent))


def _sent(form: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in form:
        if hasattr(field, "entries"):
            for line in field.entries:
                found.update(_sent(line.form))
        elif isinstance(field.data, list):
            found[field.name] = [str(each) for each in field.data]
        elif field.type == "BooleanField":
            found.update({field.name: "y"} if field.data else {})
        else:
            found[field.name] = str(
                field._value() if hasattr(field, "_value") else field.data or ""
            )
    return found
