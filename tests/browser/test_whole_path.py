"""The whole path by what one sees: roles and labels alone, and no address typed but `/`.

People and the property “plan” come by the API, for the console has no page that makes them; the
template, the automation and everything that happens to it are made in the console.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import ground
from tests.browser.ground import HOUR, KIM, LEE, NOA, SOON
from tests.support.browser import PageErrors
from tests.support.sink import SmtpSink
from tests.support.stack import Stack

NAME = "Welcome series"


@pytest.mark.timeout(240)
def test_an_automation_is_built_checked_switched_and_answered_for_by_what_one_sees(
    stack: Stack, sink: SmtpSink, page: Page, page_errors: PageErrors
) -> None:
    ground.lay(stack, sink)
    ground.enter(stack, page)
    _write_a_template(page)
    _build(page)
    _try(page)
    _activate(page)
    _fire(page, KIM, "It started 1 automation.")
    _watch_the_mail(page)
    ground.mail_reached_kim(sink)
    _pause(page)
    _fire(page, NOA, "It started no automation.")
    _run_of(page, KIM)
    stack.move_clock(2 * HOUR)
    _watch_kim_leave(page)
    _resume(page)
    _fire(page, LEE, "It started 1 automation.")
    _edit_and_move(page)
    _pause_and_hold(page)
    stack.move_clock(6 * HOUR)
    _let_go_on(page)
    _ask_why_not(page)
    assert page_errors.found == []


def _go(page: Page, area: str) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name=area, exact=True).click()
    expect(page.get_by_role("heading", level=1, name=area)).to_be_visible()


def _open(page: Page) -> None:
    _go(page, "Automations")
    page.get_by_role("link", name=NAME).click()
    expect(page.get_by_role("heading", level=1, name=NAME)).to_be_visible()


def _said(page: Page, words: str) -> None:
    expect(page.get_by_role("status").filter(has_text=words)).to_be_visible()


def _write_a_template(page: Page) -> None:
    _go(page, "Templates")
    page.get_by_role("link", name="New template").click()
    page.get_by_label("Name").fill("Welcome aboard")
    page.get_by_label("Subject").fill("Welcome, {{ contact.first_name }}")
    page.get_by_label("Text of the mail").fill(
        '<p>Hello {{ contact.first_name }}</p><p><a href="{{ unsubscribe_url }}">Leave</a></p>'
    )
    page.get_by_role("button", name="Save template").click()
    _said(page, "The template is saved.")


def _build(page: Page) -> None:
    _go(page, "Automations")
    page.get_by_role("link", name="New automation").click()
    page.get_by_label("Name").fill(NAME)
    page.get_by_role("radio", name="Event").check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_label("Name of the event").fill("signed_up")
    _save(page, "changing the start")
    _insert(page, "Insert a step behind “The event “signed_up” arrives”", "Mail")
    page.get_by_role("combobox", name="Template").select_option("Welcome aboard")
    _save(page)
    _insert(page, "Insert a step behind “Mail “Welcome aboard””", "Wait")
    page.get_by_label("How long").fill("1")
    page.get_by_label("Unit").select_option("hours")
    _save(page)
    _insert(page, "Insert a step behind “Wait 1 hour”", "Branch")
    page.get_by_role("combobox", name="Property").select_option("Plan (plan)")
    page.get_by_label("Value").fill("pro")
    expect(page.get_by_text("2 of 3 people match now.")).to_be_visible()
    _save(page)
    _insert(page, "no Insert a step behind “plan is “pro”?”", "End")
    _insert(page, "yes Insert a step behind “plan is “pro”?”", "End")


def _insert(page: Page, place: str, kind: str) -> None:
    page.get_by_role("link", name=place).click()
    page.get_by_role("complementary", name="Insert a step").get_by_role(
        "button", name=kind, exact=True
    ).click()
    expect(page.get_by_text(f"{kind}, step")).to_be_visible()


def _save(page: Page, what: str = "changing a step") -> None:
    page.get_by_role("button", name="Save in the draft").click()
    expect(page.get_by_role("button", name=f"Undo {what}")).to_be_visible()
    _said(page, "Saved in the draft.")


def _try(page: Page) -> None:
    """Let the check find nothing, and simulate Kim's way."""
    page.get_by_role("link", name="Check", exact=True).click()
    expect(
        page.get_by_text("Checked: the draft can go live, and nothing looks wrong.")
    ).to_be_visible()
    page.get_by_role("link", name="Simulate", exact=True).click()
    page.get_by_label("Address or number").fill(KIM)
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("heading", name="Kim Arnold would come to the end")).to_be_visible()
    expect(page.get_by_text("It would take 1 hour.")).to_be_visible()
    expect(page.get_by_text("Subject: Welcome, Kim")).to_be_visible()
    page.get_by_role("link", name="Open the automation").click()


def _activate(page: Page) -> None:
    page.get_by_role("button", name="Activate…").click()
    page.get_by_role("dialog").get_by_role("button", name="Activate for new people").click()
    _said(page, "Automation activated")


def _find(page: Page, address: str) -> None:
    page.get_by_label("Find a person").fill(address)
    page.get_by_role("button", name="Find").click()


def _fire(page: Page, address: str, words: str) -> None:
    _find(page, address)
    page.get_by_role("link", name="Fire an event…").click()
    page.get_by_label("Name of the event").fill("signed_up")
    page.get_by_role("button", name="Fire for this person").click()
    _said(page, words)


def _log(page: Page) -> Locator:
    return page.get_by_role("region", name="Log")


def _watch_the_mail(page: Page) -> None:
    """From Kim's page to the run, which shows what the worker does without being loaded anew."""
    page.get_by_role("link", name=NAME).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Kim Arnold in “{NAME}”")
    expect(_log(page)).to_contain_text("Mail “Welcome aboard” queued", timeout=SOON)
    expect(_log(page)).to_contain_text("Waiting 1 hour", timeout=SOON)
    expect(page.get_by_text("Next due")).to_be_visible()


def _pause(page: Page) -> None:
    """Pause under the default rule, told what it does to the one who is inside."""
    page.get_by_role("link", name="Open the automation").click()
    page.get_by_role("button", name="Pause…").click()
    dialog = page.get_by_role("dialog", name=f"Pause “{NAME}”?")
    expect(dialog).to_contain_text("1 person is inside.")
    expect(dialog).to_contain_text("Whoever becomes due while it is paused leaves at that step")
    dialog.get_by_role("button", name="Pause for 1 person").click()
    _said(page, "Automation paused")


def _run_of(page: Page, address: str) -> None:
    _find(page, address)
    page.get_by_role("link", name=NAME).first.click()


def _watch_kim_leave(page: Page) -> None:
    expect(_log(page)).to_contain_text("Wait 1 hour: left here", timeout=SOON)
    expect(_log(page)).to_contain_text("It became due while the automation was paused.")
    _said(page, "Ended early")


def _resume(page: Page) -> None:
    page.get_by_role("link", name="Open the automation").click()
    page.get_by_role("button", name="Resume…").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    _said(page, "Automation resumed")


def _edit_and_move(page: Page) -> None:
    """Change the wait and the rule of the pause while Lee waits, and take Lee along."""
    _open(page)
    plan = page.get_by_role("region", name="Steps")
    expect(plan).to_contain_text("1 waiting", timeout=SOON)
    plan.get_by_role("link", name="Wait 1 hour", exact=True).click()
    page.get_by_label("How long").fill("3")
    _save(page)
    page.get_by_role("link", name="Settings of this automation").click()
    page.get_by_label("Whoever becomes due waits at that step").check()
    _save(page, "changing the settings")
    page.get_by_role("link", name="Publish…").click()
    expect(page.get_by_text("1 person is inside.")).to_be_visible()
    page.get_by_label("Move: 1 person goes on in revision 2").check()
    page.get_by_role("button", name="Publish revision 2").click()
    _said(page, "1 person goes on in it.")


def _pause_and_hold(page: Page) -> None:
    page.get_by_role("button", name="Pause…").click()
    dialog = page.get_by_role("dialog", name=f"Pause “{NAME}”?")
    expect(dialog).to_contain_text("Nobody leaves: whoever becomes due while it is paused is held")
    dialog.get_by_role("button", name="Pause for 1 person").click()
    _said(page, "Automation paused")


def _let_go_on(page: Page) -> None:
    _run_of(page, LEE)
    expect(page.get_by_text("This person is held here until somebody resumes it.")).to_be_visible(
        timeout=SOON
    )
    page.get_by_role("link", name="Open the automation").click()
    page.get_by_role("button", name="Resume…").click()
    dialog = page.get_by_role("dialog", name=f"Resume “{NAME}”?")
    expect(dialog).to_contain_text("1 of 1 person is overdue.")
    dialog.get_by_label("Go on now").check()
    dialog.get_by_role("button", name="Resume").click()
    _said(page, "Automation resumed")
    _run_of(page, LEE)
    expect(_log(page)).to_contain_text("plan is “pro”? → no", timeout=SOON)
    expect(_log(page)).to_contain_text("It came to the end of the line.", timeout=SOON)


def _ask_why_not(page: Page) -> None:
    _find(page, NOA)
    page.get_by_role("link", name="Why not in …?").click()
    page.get_by_label("Automation").select_option(NAME)
    page.get_by_role("button", name="Ask").click()
    expect(
        page.get_by_role("heading", name="When it happened, the automation was paused.")
    ).to_be_visible()
    expect(page.get_by_text("recorded at the time")).to_be_visible()
