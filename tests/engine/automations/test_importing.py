"""Import: what a document names that is not here is told by place, and can be mapped or left."""

import json
from typing import Any

import pytest
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.document import Document
from engine.automations.importing import Missing, mapped, preview_import
from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.triggers import TRIGGERS
from engine.core.clock import FixedClock
from engine.core.ids import new_public_id
from engine.core.outcome import Refused
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make
from tests.web.counting import counting


class Names:
    """One of everything that a document may name, in a workspace."""

    def __init__(self, session: Session) -> None:
        self.workspace_id = accounts.workspace(session).id
        self.template = delivery.template(session, self.workspace_id).public_id
        self.topic = audience.topic(session, self.workspace_id).public_id
        self.property = "plan"
        audience.custom_property(session, self.workspace_id, self.property)


def rule(key: str, condition: dict[str, Any]) -> dict[str, Any]:
    config = {"condition": condition, "yes": None, "no": "end"}
    return {"key": key, "type": "condition", "config": config, "next": None}


def full(names: Names) -> dict[str, Any]:
    """Return a document that names one of everything."""
    member = {"kind": "topic_membership", "topic_id": names.topic, "operator": "equals"}
    plan = {
        "kind": "contact_property",
        "field": names.property,
        "operator": "equals",
        "value": "plan",
    }
    return make.document(
        make.email("hello", names.template, next=None),
        rule("member", member),
        rule("plan", plan),
        make.branch("ada", yes=None, no="end", next=None),
        {
            "key": "join",
            "type": "topic",
            "config": {"topic_id": names.topic, "action": "subscribe"},
        },
        make.end("last"),
        trigger={"type": "topic_subscribed", "config": {"topic_id": names.topic}},
    )


def test_what_is_here_is_not_missing(session: Session) -> None:
    names = Names(session)
    found = preview_import(session, names.workspace_id, full(names))
    assert not isinstance(found, Refused), found
    document, missing = found
    assert isinstance(document, Document)
    assert missing == ()


def test_what_another_workspace_has_is_told_by_its_place(session: Session) -> None:
    names, here = Names(session), accounts.workspace(session).id
    found = preview_import(session, here, full(names))
    assert not isinstance(found, Refused), found
    assert found[1] == (
        Missing("/trigger/config/topic_id", "topic", names.topic),
        Missing("/steps/0/config/template_id", "template", names.template),
        Missing("/steps/1/config/condition/topic_id", "topic", names.topic),
        Missing("/steps/2/config/condition/field", "property", "plan"),
        Missing("/steps/4/config/topic_id", "topic", names.topic),
    )


def test_a_watched_property_is_named_unless_it_is_built_in(session: Session) -> None:
    here = accounts.workspace(session).id
    for key, expected in [
        ("first_name", ()),
        ("language", ()),
        ("plan", (Missing("/trigger/config/property_key", "property", "plan"),)),
        ("a\0b", (Missing("/trigger/config/property_key", "property", "a\0b"),)),
    ]:
        trigger = {"type": "contact_updated", "config": {"property_key": key}}
        found = preview_import(session, here, make.document(trigger=trigger))
        assert not isinstance(found, Refused), found
        assert found[1] == expected


def test_a_mapped_document_has_nothing_missing_and_the_same_ways(
    session: Session, clock: FixedClock
) -> None:
    theirs, ours = Names(session), Names(session)
    raw = full(theirs)
    found = preview_import(session, ours.workspace_id, raw)
    assert not isinstance(found, Refused), found
    target = {"topic": ours.topic, "template": ours.template, "property": ours.property}
    document = service.as_document(found[0])
    kept = json.dumps(document)
    put = mapped(document, {each.pointer: target[each.family] for each in found[1]})
    assert json.dumps(document) == kept
    again = preview_import(session, ours.workspace_id, put)
    assert not isinstance(again, Refused), again
    assert again[1] == ()
    assert again[0].graph.steps[1].exits == found[0].graph.steps[1].exits
    made = service.create(session, ours.workspace_id, put, make.ACTOR, clock.now())
    assert isinstance(made, service.Saved)


def test_what_is_left_open_is_an_empty_field_of_a_sound_draft(
    session: Session, clock: FixedClock
) -> None:
    names, here = Names(session), accounts.workspace(session).id
    found = preview_import(session, here, full(names))
    assert not isinstance(found, Refused), found
    put = mapped(service.as_document(found[0]), {each.pointer: None for each in found[1]})
    assert put["trigger"]["config"] == {"topic_id": None}
    configs = [step["config"] for step in put["steps"]]
    assert configs[0]["template_id"] is None
    assert [config["condition"] for config in configs[1:3]] == [None, None]
    assert configs[3] == make.branch("ada", yes=None, no="end")["config"]
    assert configs[4] == {"topic_id": None, "action": "subscribe"}
    made = service.create(session, here, put, make.ACTOR, clock.now())
    assert isinstance(made, service.Saved)


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        "/",
        "/steps/9/config/template_id",
        "/steps/x/config",
        "/steps/0/config/other/deep",
        "/no",
    ],
)
@pytest.mark.parametrize("value", [None, "x"])
def test_a_pointer_that_leads_nowhere_is_passed_over(pointer: str, value: str | None) -> None:
    document = make.document(make.email("hello", "abc", next=None))
    assert mapped(document, {pointer: value}) == document


def test_an_unsound_document_is_refused_with_its_faults(session: Session) -> None:
    here = accounts.workspace(session).id
    found = preview_import(session, here, make.document(make.delay("a", next="gone")))
    assert isinstance(found, Refused)
    assert [problem.pointer for problem in found.problems] == ["/steps/0/next"]
    unsound: tuple[object, ...] = (None, [], "text", {"steps": {}})
    for raw in unsound:
        assert isinstance(preview_import(session, here, raw), Refused)


def test_however_many_steps_each_family_is_asked_for_once(session: Session) -> None:
    names = Names(session)
    steps = [make.email(f"k{n}", names.template if n % 2 else new_public_id()) for n in range(60)]
    raw = make.document(*steps, trigger=full(names)["trigger"])
    with counting(session.get_bind().engine) as asked:
        found = preview_import(session, names.workspace_id, raw)
    assert not isinstance(found, Refused), found
    assert (len(found[1]), asked.count) == (30, 2)


def test_an_empty_configuration_names_nothing() -> None:
    for name in STEPS:
        kind = STEPS.get(name)
        assert kind.references(kind.Config.model_validate({})) == {}
    for name in TRIGGERS:
        trigger = TRIGGERS.get(name)
        assert trigger.references(trigger.Config.model_validate({})) == {}
