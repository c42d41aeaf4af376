"""The file of an automation: the document, the names beside it, and no secret."""

import json
from typing import Any

import pytest
from sqlalchemy.orm import Session

from engine.automations import service
from engine.automations.document import Document
from engine.automations.exporting import FORMAT, VERSION, Opened, open_export, write_export
from engine.automations.importing import preview_import
from engine.core.clock import FixedClock
from engine.core.outcome import Refused
from tests.factories import accounts, audience, delivery, secrets
from tests.factories import automations as make
from tests.web.counting import counting

HOOK = "https://hooks.example/in"


def hook(key: str, **config: Any) -> dict[str, Any]:
    """Return a step that calls a server."""
    return {"key": key, "type": "webhook", "config": {"url": HOOK, **config}}


def export(session: Session, workspace_id: int, clock: FixedClock, raw: Any) -> Any:
    """Return the file of a new draft as another workspace reads it."""
    made = service.create(session, workspace_id, raw, make.ACTOR, clock.now())
    assert isinstance(made, service.Saved), made
    seen = service.current(session, workspace_id, made.public_id)
    assert seen is not None
    written = write_export(session, workspace_id, seen.document, clock.now())
    assert not isinstance(written, Refused), written
    return json.loads(json.dumps(written))


def test_a_file_says_what_its_ids_stand_for_and_is_read_again(
    session: Session, clock: FixedClock
) -> None:
    here = accounts.workspace(session).id
    template = delivery.template(session, here).public_id
    topic = audience.topic(session, here, name="News").public_id
    audience.custom_property(session, here, "plan")
    key = secrets.secret(session, here).public_id
    trigger = {"type": "contact_updated", "config": {"property_key": "plan"}}
    joined = {"topic_id": topic, "action": "subscribe"}
    raw = make.document(
        make.email("hello", template),
        {"key": "join", "type": "topic", "config": joined},
        hook("tell", secret_id=key),
        trigger=trigger,
    )
    written = export(session, here, clock, raw)
    assert (written["format"], written["format_version"]) == (FORMAT, VERSION)
    assert written["exported_at"] == clock.now().isoformat()
    assert written["names"]["topic"] == {topic: {"name": "News"}}
    assert written["names"]["property"]["plan"]["kind"] == "text"
    assert written["names"]["secret"][key]["kind"] == "signing"
    assert template in written["names"]["template"]
    opened = open_export(written)
    assert isinstance(opened, Opened)
    assert opened.names["topic", topic] == "News"
    assert opened.kinds["secret", key] == "signing"
    there = accounts.workspace(session).id
    found = preview_import(session, there, opened.raw)
    assert not isinstance(found, Refused), found
    assert isinstance(found[0], Document)
    assert {each.family for each in found[1]} == {"template", "topic", "property", "secret"}


def test_the_value_of_a_secret_and_what_looks_like_one_stay_here(
    session: Session, clock: FixedClock
) -> None:
    here = accounts.workspace(session).id
    value = "s3cret-value-of-the-tests"
    key = secrets.secret(session, here, value=value).public_id
    headers = {"Authorization": "Bearer hidden-one", "X-Api-Key": "hidden-two", "X-Team": "blue"}
    written = export(
        session, here, clock, make.document(
            hook("a", secret_id=key, headers=headers),
            hook("b", url="https://me:hidden-three@hooks.example/"),
            hook("c", url="https://hooks.example/?a=1&access_token=hidden-four"),
            hook("d", url="https://hooks.example/?page=2"),
        ),
    )  # fmt: skip
    text = json.dumps(written)
    assert value not in text
    assert "hidden" not in text
    configs = [step["config"] for step in written["automation"]["steps"]]
    assert configs[0]["headers"] == {"X-Team": "blue"}
    assert ["url" in config for config in configs] == [True, False, False, True]
    assert written["left_out"] == [
        "/steps/0/config/headers/Authorization",
        "/steps/0/config/headers/X-Api-Key",
        "/steps/1/config/url",
        "/steps/2/config/url",
    ]
    opened = open_export(written)
    assert isinstance(opened, Opened)
    assert opened.left_out == tuple(written["left_out"])
    assert not isinstance(preview_import(session, here, opened.raw), Refused)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "not_an_export"),
        ([], "not_an_export"),
        ("text", "not_an_export"),
        ({"hello": "world"}, "not_an_export"),
        ({"format": FORMAT}, "not_an_export"),
        ({"format": FORMAT, "format_version": "1", "automation": {}}, "not_an_export"),
        ({"format": FORMAT, "format_version": True, "automation": {}}, "not_an_export"),
        ({"format": FORMAT, "format_version": 2, "automation": {}}, "newer_format"),
    ],
)
def test_what_is_no_file_of_ours_is_refused_by_name(value: Any, reason: str) -> None:
    refused = open_export(value)
    assert isinstance(refused, Refused)
    assert refused.reason == reason


@pytest.mark.parametrize("names", [None, [], {"topic": []}, {"topic": {"a": 1, "b": {"name": 2}}}])
def test_names_that_say_nothing_are_passed_over(names: Any) -> None:
    value = {"format": FORMAT, "format_version": 1, "automation": 5, "names": names, "left_out": 1}
    assert open_export(value) == Opened(5)


def test_a_bare_document_and_an_answer_of_the_api_count_as_a_file() -> None:
    raw = make.document(make.delay("wait"))
    assert open_export(raw) == Opened(raw)
    assert open_export({"id": "x", "steps": [], "trigger": {}, "document": raw}) == Opened(raw)


def test_however_many_steps_each_family_is_asked_for_once(
    session: Session, clock: FixedClock
) -> None:
    here = accounts.workspace(session).id
    template = delivery.template(session, here).public_id
    raw = make.document(*[make.email(f"k{n}", template) for n in range(60)])
    session.flush()
    with counting(session.get_bind().engine) as asked:
        assert not isinstance(write_export(session, here, raw, clock.now()), Refused)
    assert asked.count <= 4


def test_a_document_that_cannot_be_read_has_no_file(session: Session, clock: FixedClock) -> None:
    here = accounts.workspace(session).id
    raw = make.document({"key": "a", "type": "made-up", "config": {}})
    assert isinstance(write_export(session, here, raw, clock.now()), Refused)
