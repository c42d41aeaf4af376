"""Webhook and Slack message in words: no address that is a secret, no answer."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from engine.automations.kinds.steps.slack import SlackConfig
from engine.automations.kinds.steps.webhook import WebhookConfig
from web.automations.kinds.steps.base import Named
from web.automations.kinds.steps.slack import SlackWords
from web.automations.kinds.steps.webhook import WebhookWords

URL = "https://shop.example/in?key=x"
SECRET = {"secret_name": "Hook"}


@pytest.fixture(autouse=True)
def _page(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


@pytest.mark.parametrize(
    ("config", "names", "title", "note"),
    [
        ({}, {}, "Webhook without an address", ""),
        ({"url": URL}, {}, "Tell shop.example", "POST, not signed"),
        ({"url": URL, "secret_id": "x"}, SECRET, "Tell shop.example", "POST, signed with “Hook”"),
        ({"url": URL, "secret_id": "x"}, {}, "Tell shop.example", "The secret was deleted."),
    ],
)
def test_a_webhook_says_whom_it_tells_and_how_it_is_signed(
    config: dict[str, Any], names: dict[str, str], title: str, note: str
) -> None:
    step = Named(WebhookConfig.model_validate(config), names)
    assert WebhookWords().title(step) == title
    assert WebhookWords().note(step) == note


def test_a_webhook_says_what_was_answered_and_what_would_be_sent() -> None:
    words, step = WebhookWords(), Named(WebhookConfig(url=URL))
    result = {"status": 204, "body": "", "took_ms": 12}
    assert words.done(step, result) == "Tell shop.example: answered 204 in 12 ms"
    would = {"would": {"method": "PUT", "host": "shop.example", "sends": {"a": "x" * 400}}}
    told = words.foreseen(step, would)
    assert told.startswith('Would PUT to shop.example: {"a": "xxx')
    assert len(told) < 340


@pytest.mark.parametrize(
    ("config", "names", "title", "note"),
    [
        ({"text": "Hi"}, {}, "Slack message without a channel", "Hi"),
        ({"secret_id": "x", "text": "Hi"}, SECRET, "Write to “Hook” in Slack", "Hi"),
        ({"secret_id": "x"}, {}, "Slack message without a channel", "The secret was deleted."),
    ],
)
def test_a_message_says_where_it_goes(
    config: dict[str, Any], names: dict[str, str], title: str, note: str
) -> None:
    step = Named(SlackConfig.model_validate(config), names)
    assert SlackWords().title(step) == title
    assert SlackWords().note(step) == note


def test_a_message_says_that_it_was_or_would_be_written() -> None:
    words, step = SlackWords(), Named(SlackConfig(secret_id="x"), SECRET)
    assert words.done(step, {"status": 200}) == "Write to “Hook” in Slack: written"
    assert words.foreseen(step, {"would": {"sends": {"text": "Ada!"}}}) == "Would write: Ada!"
