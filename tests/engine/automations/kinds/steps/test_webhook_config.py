"""What a webhook may be set to: judged on save, and by Check."""

from typing import Any

import pytest

from engine.accounts.service.secrets import ADDRESS
from engine.automations import checking
from engine.automations.document import Document, read_document
from engine.core.clock import FixedClock
from engine.core.outcome import Problem, Refused
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as make
from tests.factories.secrets import secret
from tests.factories.world import World


def hook(url: str | None, **config: Any) -> dict[str, Any]:
    return {"key": "tell", "type": "webhook", "config": {"url": url, **config}}


@pytest.mark.parametrize(
    ("config", "place", "code"),
    [
        ({"url": "ftp://shop.example/"}, "url", "no_web_address"),
        ({"url": "shop.example"}, "url", "no_web_address"),
        ({"url": "http://a b/"}, "url", "no_web_address"),
        ({"url": "http://[::1"}, "url", "no_web_address"),
        ({"body": "{"}, "body", "not_json"),
        ({"body": "[" * 15_000}, "body", "not_json"),
        ({"body": "NaN"}, "body", "not_json"),
        ({"body": r'{"half a character": "\ud83d"}'}, "body", "not_json"),
        ({"body": '{"a": "{{ x"}'}, "body", "template_broken"),
        ({"headers": {"Host": "x"}}, "headers", "header_not_allowed"),
        ({"headers": {"X-Stellwerk-Event": "x"}}, "headers", "header_not_allowed"),
        ({"headers": {"a b": "x"}}, "headers", "header_not_allowed"),
        ({"headers": {"X-A": "a\r\nb: c"}}, "headers", "header_not_allowed"),
        ({"headers": {f"X-{n}": "x" for n in range(11)}}, "headers", "too_many_headers"),
        ({"method": "GET"}, "method", "literal_error"),
    ],
)
def test_what_cannot_be_called_is_refused_on_save(
    config: dict[str, Any], place: str, code: str
) -> None:
    refused = read_document(make.document(hook(**{"url": None, **config})))
    assert isinstance(refused, Refused)
    assert [problem.pointer for problem in refused.problems] == [f"/steps/0/config/{place}"]
    assert refused.problems[0].code == code


def test_check_finds_a_missing_address_and_a_secret_that_is_gone(
    uow: UnitOfWork, clock: FixedClock
) -> None:
    world = World(uow, clock)
    with world.uow.begin() as session:
        made = secret(session, world.workspace_id)
        other = secret(
            session, world.workspace_id, "Chat", ADDRESS, "https://chat.example/services/x"
        )
    keys = {"a": made.public_id, "b": "gone", "c": other.public_id}
    steps = [hook("https://a.example/", secret_id=each) | {"key": k} for k, each in keys.items()]
    document = read_document(make.document(*steps, hook(None)))
    assert isinstance(document, Document)
    with world.uow.read() as session:
        found = checking.errors(session, world.workspace_id, document)
        names = checking.enrichment(session, world.workspace_id, document)
    assert found == [
        Problem("/steps/3/config/url", "address_missing"),
        Problem("/steps/1/config/secret_id", "secret_gone"),
        Problem("/steps/2/config/secret_id", "secret_gone"),
    ]
    assert names["a"] == {"secret_name": "Hook"}
