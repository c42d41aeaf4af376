"""A supporter's way through the real console: sign in, find a person, read the log of a run."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import PageErrors
from tests.support.stack import OWNER, PASSWORD, Stack
from tests.support.waiting import wait_for

PERSON = "kim.arnold@partner.example"


def _post(stack: Stack, path: str, document: Any) -> Any:
    answer = stack.api("POST", path, document)
    assert answer.status < 300, answer.body
    return answer.json()


def _one_mail_and_a_wait(stack: Stack) -> str:
    """Let one person get a mail and wait behind it; return the mail's message id."""
    template = _post(
        stack,
        "/templates",
        {
            "name": "Welcome aboard",
            "subject": "Hello {{ contact.first_name }}",
            "html": "<p>Hi</p>",
        },
    )
    automation = _post(
        stack,
        "/automations",
        {
            "name": "Trial lifecycle",
            "trigger": {"type": "event_received", "config": {"event_name": "trial_started"}},
            "steps": [
                {"key": "hello", "type": "email", "config": {"template_id": template["id"]}},
                {"key": "wait", "type": "delay", "config": {"duration": 3, "unit": "days"}},
            ],
        },
    )
    _post(stack, f"/automations/{automation['id']}/transitions", {"to": "active"})
    _post(stack, "/contacts", {"email": PERSON, "first_name": "Kim", "last_name": "Arnold"})
    _post(stack, "/events", {"email": PERSON, "event_name": "trial_started"})

    def sent() -> str | None:
        items = stack.api("GET", "/sends?status=sent").json()["items"]
        return str(items[0]["message_id"]) if items else None

    return str(wait_for(sent, "the mail in the outbox"))


@pytest.mark.timeout(240)
def test_a_supporter_signs_in_finds_a_person_and_reads_the_log_of_the_run(
    stack: Stack, page: Page, page_errors: PageErrors
) -> None:
    stack.up()
    message_id = _one_mail_and_a_wait(stack)
    page.goto(f"{stack.base_url}/")
    page.get_by_label("E-mail address").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".pulse")).to_contain_text("Worker seen")
    expect(page.locator(".card-auto")).to_contain_text("Trial lifecycle")

    page.get_by_label("Find a person").first.fill(PERSON)
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kim Arnold")
    page.get_by_role("link", name="Trial lifecycle", exact=True).click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Kim Arnold in “Trial lifecycle”")
    log = page.locator(".log")
    expect(log).to_contain_text("Entered by the event “trial_started”")
    expect(log).to_contain_text("Mail “Welcome aboard” queued")
    expect(log).to_contain_text("Waiting 3 days")
    page.get_by_role("link", name="mail as sent").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello Kim")
    expect(page.locator("main .note")).to_contain_text("This mail did not leave")

    page.get_by_label("Find a person").first.fill(message_id)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello Kim")
    assert page_errors.found == []
