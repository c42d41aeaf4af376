"""Every kind of the engine has words in both languages, and they say what it is set to."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask_babel import force_locale

from engine.automations.kinds.steps import KINDS as STEPS
from engine.automations.kinds.triggers import KINDS as TRIGGERS
from engine.rules.kinds import CONDITIONS
from web.automations.kinds import conditions
from web.automations.kinds.steps import STEPS as STEP_WORDS
from web.automations.kinds.steps.base import Named
from web.automations.kinds.triggers import TRIGGERS as TRIGGER_WORDS

TOPICS = {"t1": "News"}
NEWS = {"topic_name": "News"}
JOIN = {"topic_id": "t1"}
SET = {"changes": {"plan": "pro"}}


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (STEPS, STEP_WORDS),
        (TRIGGERS, TRIGGER_WORDS),
        (dict(CONDITIONS.items()), conditions.CONDITIONS),
    ],
)
def test_every_kind_of_the_engine_is_put_into_words(engine: Any, words: Any) -> None:
    assert set(words) == set(engine)


@pytest.mark.parametrize(
    ("kind", "config", "names", "english", "german"),
    [
        ("email", {"template_id": "x"}, {"template_name": "Hi"}, "Mail “Hi”", "Mail „Hi“"),
        ("email", {}, {}, "Mail without a template", "Mail ohne Vorlage"),
        ("delay", {"duration": 1.5, "unit": "days"}, {}, "Wait 1.5 days", "1,5 Tage warten"),
        ("delay", {"duration": 1, "unit": "weeks"}, {}, "Wait 1 week", "1 Woche warten"),
        ("delay", {}, {}, "Wait without a length", "Wartezeit ohne Länge"),
        ("condition", {}, {}, "Branch without a rule", "Verzweigung ohne Regel"),
        ("topic", {"topic_id": "t1"}, NEWS, "Subscribe to “News”", "„News“ abonnieren"),
        (
            "topic",
            {"topic_id": "t1", "action": "unsubscribe"},
            NEWS,
            "Unsubscribe from “News”",
            "„News“ abbestellen",
        ),
        ("topic", {}, {}, "Subscription without a topic", "Abonnement ohne Thema"),
        (
            "update_contact",
            {"changes": {"plan": "pro"}},
            {},
            "Set plan to “pro”",
            "plan auf „pro“ setzen",
        ),
        (
            "update_contact",
            {"changes": {"language": None}},
            {},
            "Clear Language",
            "Sprache leeren",
        ),
        (
            "update_contact",
            {"changes": {"plan": "pro", "first_name": "Ada"}},
            {},
            "Change First name, plan",
            "Vorname, plan ändern",
        ),
        (
            "update_contact",
            {"stamps": ["seen_at"]},
            {},
            "Set seen_at to the moment of the step",
            "seen_at auf den Zeitpunkt des Schritts setzen",
        ),
        (
            "update_contact",
            {},
            {},
            "Change of the person (none chosen yet)",
            "Änderung der Person (noch keine gewählt)",
        ),
        ("end", {}, {}, "Ends here", "Endet hier"),
    ],
)
def test_a_step_is_named_in_both_languages(
    kind: str, config: dict[str, Any], names: dict[str, str], english: str, german: str
) -> None:
    step = Named(STEPS[kind].Config.model_validate(config), names, TOPICS)
    for language, expected in (("en", english), ("de", german)):
        with force_locale(language):
            assert STEP_WORDS.get(kind).title(step) == expected


@pytest.mark.parametrize(
    ("config", "note"),
    [
        ({"template_id": "x", "subject_override": "Hey"}, "Subject: Hey"),
        ({"template_id": "x"}, "The template was deleted."),
        ({}, ""),
    ],
)
def test_a_mail_says_its_own_subject_and_that_its_template_is_gone(
    config: dict[str, Any], note: str
) -> None:
    step = Named(STEPS["email"].Config.model_validate(config))
    assert STEP_WORDS.get("email").note(step) == note


@pytest.mark.parametrize(
    ("kind", "config", "note"),
    [
        ("topic", {"topic_id": "t1"}, "The topic was deleted."),
        ("topic", {}, ""),
        ("update_contact", {"changes": {"plan": "pro"}}, ""),
        (
            "update_contact",
            {"changes": {"vip": True, "plan": None, "note": "x" * 90}},
            "note: " + "x" * 79 + "… · plan: no value · vip: true",
        ),
        (
            "update_contact",
            {"changes": {"plan": "pro"}, "stamps": ["seen_at"]},
            "plan: pro · seen_at: the moment of the step",
        ),
    ],
)
def test_a_step_says_what_its_title_leaves_out(
    kind: str, config: dict[str, Any], note: str
) -> None:
    step = Named(STEPS[kind].Config.model_validate(config))
    assert STEP_WORDS.get(kind).note(step) == note


@pytest.mark.parametrize(
    ("kind", "config", "result", "words"),
    [
        ("topic", JOIN, {"outcome": "subscribed"}, "Subscribed to “News”"),
        ("topic", JOIN, {"outcome": "pending_doi"}, "Subscribed to “News”, not confirmed yet"),
        ("topic", JOIN, {"outcome": "already_member"}, "Was subscribed to “News” already"),
        ("topic", JOIN, {"outcome": "unsubscribed"}, "Unsubscribed from “News”"),
        ("topic", JOIN, {"outcome": "not_member"}, "Was not subscribed to “News”"),
        ("topic", JOIN, {}, "Subscribe to “News”"),
        ("update_contact", SET, {}, "Set plan to “pro”"),
        ("update_contact", SET, {"changes": []}, "Set plan to “pro”: it was so already"),
        (
            "update_contact",
            SET,
            {
                "changes": [
                    {"key": "first_name", "before": "Ada", "after": None},
                    {"key": "plan", "before": None, "after": "pro"},
                    {"key": "vip", "before": False, "after": True},
                ]
            },
            "First name: “Ada” → no value · plan: no value → “pro” · vip: “false” → “true”",
        ),
    ],
)
def test_a_run_says_what_a_step_really_did(
    kind: str, config: dict[str, Any], result: dict[str, Any], words: str
) -> None:
    step = Named(STEPS[kind].Config.model_validate(config), NEWS)
    assert STEP_WORDS.get(kind).done(step, result) == words


@pytest.mark.parametrize(
    ("kind", "config", "title"),
    [
        ("contact_created", {}, "A person becomes known"),
        ("contact_updated", {"property_key": "plan"}, "The property “plan” changes"),
        ("contact_updated", {}, "A property changes (none chosen yet)"),
        ("event_received", {"event_name": "go"}, "The event “go” arrives"),
        ("event_received", {}, "An event arrives (none chosen yet)"),
        ("topic_subscribed", {"topic_id": "t1"}, "A person subscribes to the topic “News”"),
        ("topic_subscribed", {"topic_id": "gone"}, "A person subscribes to the topic “gone”"),
        ("topic_subscribed", {}, "A person subscribes to a topic (none chosen yet)"),
    ],
)
def test_a_trigger_says_what_it_waits_for(kind: str, config: dict[str, Any], title: str) -> None:
    read = TRIGGERS[kind].Config.model_validate(config)
    assert TRIGGER_WORDS.get(kind).title(read, TOPICS) == title


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("contact_created", {}, "Entered because this person became known"),
        ("contact_updated", {"property_key": "p"}, "Entered because the property “p” changed"),
        ("event_received", {"event_name": "go"}, "Entered by the event “go”"),
        ("topic_subscribed", {"topic_id": "t1"}, "Entered by subscribing to the topic “News”"),
    ],
)
def test_a_run_says_how_the_person_entered(kind: str, data: dict[str, Any], words: str) -> None:
    assert TRIGGER_WORDS.get(kind).entered(data, TOPICS) == words


def _about(operator: str, value: object = None) -> dict[str, object]:
    rule: dict[str, object] = {"kind": "contact_property", "field": "plan", "operator": operator}
    return rule if value is None else {**rule, "value": value}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (_about("equals", "pro"), "plan is “pro”"),
        (_about("not_equals", "pro"), "plan is not “pro”"),
        (_about("contains", "pro"), "plan contains “pro”"),
        (_about("not_contains", "pro"), "plan does not contain “pro”"),
        (_about("gt", 3), "plan is greater than 3"),
        (_about("lt", 3), "plan is less than 3"),
        (_about("gte", 3), "plan is at least 3"),
        (_about("lte", 3), "plan is at most 3"),
        (_about("is_empty"), "plan has no value"),
        (_about("not_empty"), "plan has a value"),
        (_about("is_true"), "plan is true"),
        (_about("is_false"), "plan is false"),
        (
            {"kind": "email_activity", "field": "opened", "operator": "is_true"},
            "has ever opened a mail",
        ),
        (
            {"kind": "email_activity", "field": "clicked", "operator": "is_false"},
            "has never clicked in a mail",
        ),
        (
            {"kind": "topic_membership", "topic_id": "t1", "operator": "equals"},
            "is in the topic “News”",
        ),
        (
            {"kind": "topic_membership", "topic_id": "t1", "operator": "not_equals"},
            "is not in the topic “News”",
        ),
        (None, "no rule yet"),
    ],
)
def test_a_rule_is_told_as_a_phrase(rule: dict[str, object] | None, words: str) -> None:
    assert conditions.rule(rule, TOPICS) == words


@pytest.mark.parametrize(
    ("kind", "stored", "words"),
    [
        ("contact_property", "pro", "pro"),
        ("contact_property", "", "an empty text"),
        ("contact_property", None, "no value"),
        ("email_activity", "true", "yes"),
        ("email_activity", "false", "no"),
        ("topic_membership", "member", "in the topic"),
        ("topic_membership", "not_member", "not in the topic"),
    ],
)
def test_the_value_found_is_told_in_the_words_of_its_kind(
    kind: str, stored: str | None, words: str
) -> None:
    rules: dict[str, dict[str, object]] = {
        "contact_property": _about("equals", "x"),
        "email_activity": {"kind": kind, "field": "opened", "operator": "is_true"},
        "topic_membership": {"kind": kind, "topic_id": "t1", "operator": "equals"},
    }
    assert conditions.found(rules[kind], stored) == words


@pytest.mark.parametrize(
    ("operator", "note"),
    [
        ("not_equals", "True also where there is no value."),
        ("not_contains", "True also where there is no value."),
        ("equals", ""),
        ("gt", ""),
    ],
)
def test_con_01_a_rule_that_holds_without_a_value_says_so(operator: str, note: str) -> None:
    config = STEPS["condition"].Config.model_validate({"condition": _about(operator, "Aweber")})
    assert STEP_WORDS.get("condition").note(Named(config)) == note


@pytest.mark.parametrize(
    ("stored", "words"),
    [("10", "10"), ("10 EUR", "10 EUR, which is no number"), ("", "an empty text")],
)
def test_con_06_the_log_says_that_a_compared_value_is_no_number(stored: str, words: str) -> None:
    config = STEPS["condition"].Config.model_validate({"condition": _about("gt", 9)})
    result = {"condition": _about("gt", 9), "found": stored, "branch": "no"}
    evidence = STEP_WORDS.get("condition").evidence(Named(config), result)
    assert evidence is not None
    assert evidence.found == words
