"""The same path without a mouse: Tab, Enter, arrows and typing, each act where the focus stands.

People and the property “plan” come by the API, for the console has no page that makes them.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import ground
from tests.browser.ground import HOUR, KIM, LEE, NOA, SOON
from tests.browser.keys import Keys
from tests.support.browser import PageErrors
from tests.support.sink import SmtpSink
from tests.support.stack import OWNER, PASSWORD, Stack

NAME = "Welcome series"


@pytest.mark.timeout(240)
def test_the_whole_path_is_gone_by_keyboard_alone(
    stack: Stack, sink: SmtpSink, page: Page, page_errors: PageErrors
) -> None:
    ground.lay(stack, sink)
    page.goto(f"{stack.base_url}/")
    keys = Keys(page)
    _sign_in(keys)
    _write_a_template(keys)
    _build(keys)
    _try(keys)
    _activate(keys)
    _fire(keys, KIM, "It started 1 automation.")
    _watch_the_mail(keys)
    ground.mail_reached_kim(sink)
    _pause(keys, "Whoever becomes due while it is paused leaves at that step")
    _fire(keys, NOA, "It started no automation.")
    _run_of(keys, KIM)
    keys.content()
    keys.to(_link(keys, "Open the automation"))
    stack.move_clock(2 * HOUR)
    expect(_log(keys)).to_contain_text("Wait 1 hour: left here", timeout=SOON)
    _resume(keys)
    _fire(keys, LEE, "It started 1 automation.")
    _edit_and_move(keys)
    _pause(keys, "Nobody leaves: whoever becomes due while it is paused is held")
    stack.move_clock(6 * HOUR)
    _let_go_on(keys)
    _ask_why_not(keys)
    assert page_errors.found == []


def _button(keys: Keys, name: str) -> Locator:
    return keys.page.get_by_role("button", name=name, exact=True)


def _link(keys: Keys, name: str) -> Locator:
    return keys.page.get_by_role("link", name=name, exact=True)


def _said(keys: Keys, words: str) -> None:
    expect(keys.page.get_by_role("status").filter(has_text=words)).to_be_visible()


def _page(keys: Keys, heading: str) -> None:
    """Wait for a page, and go to what is in it."""
    expect(keys.page.get_by_role("heading", level=1, name=heading)).to_be_visible()
    keys.content()


def _area(keys: Keys, name: str) -> None:
    keys.follow(keys.page.get_by_role("navigation", name="Main").get_by_role("link", name=name))
    _page(keys, name)


def _sign_in(keys: Keys) -> None:
    keys.type(keys.page.get_by_label("E-mail address"), OWNER)
    keys.type(keys.page.get_by_label("Password"), PASSWORD)
    keys.press("Enter")
    expect(keys.page.get_by_role("heading", level=1, name="Acme")).to_be_visible()


def _write_a_template(keys: Keys) -> None:
    _area(keys, "Templates")
    keys.follow(_link(keys, "New template"))
    _page(keys, "New template")
    keys.type(keys.page.get_by_label("Name"), "Welcome aboard")
    keys.type(keys.page.get_by_label("Subject"), "Welcome, {{ contact.first_name }}")
    keys.type(
        keys.page.get_by_label("Text of the mail"),
        '<p>Hello {{ contact.first_name }}</p><p><a href="{{ unsubscribe_url }}">Leave</a></p>',
    )
    keys.follow(_button(keys, "Save template"))
    _said(keys, "The template is saved.")


def _build(keys: Keys) -> None:
    page = keys.page
    _area(keys, "Automations")
    keys.follow(_link(keys, "New automation"))
    _page(keys, "New automation")
    keys.type(page.get_by_label("Name"), NAME)
    keys.to(page.get_by_role("radio", name="Event"))
    keys.follow(_button(keys, "Create draft"))
    _page(keys, NAME)
    keys.type(page.get_by_label("Name of the event"), "signed_up")
    _save(keys, "changing the start")
    _insert(keys, "Insert a step behind “The event “signed_up” arrives”", "Wait")
    keys.type(page.get_by_label("How long"), "1")
    keys.choose(page.get_by_label("Unit"), "hours")
    _save(keys)
    _insert(keys, "Insert a step behind “Wait 1 hour”", "Mail")
    keys.choose(page.get_by_role("combobox", name="Template"), "Welcome aboard")
    _save(keys)
    keys.press("Alt+ArrowUp")
    _said(keys, "Step moved up.")
    _insert(keys, "Insert a step behind “Wait 1 hour”", "Branch")
    keys.choose(page.get_by_role("combobox", name="Property"), "Plan (plan)")
    keys.type(page.get_by_label("Value"), "pro")
    expect(page.get_by_text("2 of 3 people match now.")).to_be_visible()
    _save(keys)
    _insert(keys, "no Insert a step behind “plan is “pro”?”", "End")
    _insert(keys, "yes Insert a step behind “plan is “pro”?”", "End")


def _insert(keys: Keys, place: str, kind: str) -> None:
    keys.follow(_link(keys, place), "Shift+Tab")
    rail = keys.page.get_by_role("complementary", name="Insert a step")
    expect(rail.get_by_role("heading")).to_be_focused()
    keys.follow(rail.get_by_role("button", name=kind, exact=True))
    expect(keys.page.get_by_text(f"{kind}, step")).to_be_visible()


def _save(keys: Keys, what: str = "changing a step") -> None:
    keys.follow(_button(keys, "Save in the draft"))
    expect(keys.page.get_by_role("button", name=f"Undo {what}")).to_be_visible()
    _said(keys, "Saved in the draft.")


def _try(keys: Keys) -> None:
    """Let the check find nothing, and simulate Kim's way."""
    page = keys.page
    keys.follow(_link(keys, "Check"), "Shift+Tab")
    expect(
        page.get_by_text("Checked: the draft can go live, and nothing looks wrong.")
    ).to_be_visible()
    keys.follow(_link(keys, "Simulate"), "Shift+Tab")
    _page(keys, f"Simulate “{NAME}”")
    keys.type(page.get_by_label("Address or number"), KIM)
    keys.follow(_button(keys, "Simulate"))
    expect(page.get_by_role("heading", name="Kim Arnold would come to the end")).to_be_visible()
    keys.follow(_link(keys, "Open the automation"), "Shift+Tab")
    _page(keys, NAME)


def _confirm(keys: Keys, opener: str, verb: str, safe: str, words: str = "") -> None:
    """Open a confirmation, find the safe button focused, and go on to the other."""
    keys.to(_button(keys, opener))
    keys.press("Space")
    dialog = keys.page.get_by_role("dialog")
    expect(dialog).to_contain_text(words)
    expect(dialog.get_by_role("button", name=safe)).to_be_focused()
    keys.follow(dialog.get_by_role("button", name=verb))


def _activate(keys: Keys) -> None:
    _confirm(keys, "Activate…", "Activate for new people", "Keep as draft")
    _said(keys, "Automation activated")


def _find(keys: Keys, address: str) -> None:
    keys.type(keys.page.get_by_label("Find a person"), address)
    keys.press("Enter")
    expect(keys.page.get_by_text(address).first).to_be_visible()


def _fire(keys: Keys, address: str, words: str) -> None:
    page = keys.page
    _find(keys, address)
    keys.content()
    keys.follow(_link(keys, "Fire an event…"))
    _page(keys, "Fire an event for")
    keys.type(page.get_by_label("Name of the event"), "signed_up")
    keys.follow(_button(keys, "Fire for this person"))
    _said(keys, words)


def _log(keys: Keys) -> Locator:
    return keys.page.get_by_role("region", name="Log")


def _run_of(keys: Keys, address: str) -> None:
    _find(keys, address)
    keys.content()
    keys.follow(_link(keys, NAME))
    expect(keys.page.get_by_role("heading", level=1)).to_contain_text(f"in “{NAME}”")


def _watch_the_mail(keys: Keys) -> None:
    """From Kim's page to the run, which shows what the worker does without being loaded anew."""
    keys.content()
    keys.follow(_link(keys, NAME))
    _page(keys, f"Kim Arnold in “{NAME}”")
    expect(_log(keys)).to_contain_text("Mail “Welcome aboard” queued", timeout=SOON)
    expect(_log(keys)).to_contain_text("Waiting 1 hour", timeout=SOON)
    keys.follow(_link(keys, "Open the automation"))
    _page(keys, NAME)


def _pause(keys: Keys, rule: str) -> None:
    """Pause, told what it does to the one who is inside."""
    _confirm(keys, "Pause…", "Pause for 1 person", "Keep running", rule)
    _said(keys, "Automation paused")


def _resume(keys: Keys) -> None:
    """Go on from the link on which one stood while the page showed what happened."""
    expect(_link(keys, "Open the automation")).to_be_focused()
    keys.press("Enter")
    _page(keys, NAME)
    _confirm(keys, "Resume…", "Resume", "Keep paused")
    _said(keys, "Automation resumed")


def _edit_and_move(keys: Keys) -> None:
    """Change the wait and the rule of the pause while Lee waits, and take Lee along."""
    page = keys.page
    _area(keys, "Automations")
    keys.follow(_link(keys, NAME))
    _page(keys, NAME)
    plan = page.get_by_role("region", name="Steps")
    expect(plan).to_contain_text("1 waiting", timeout=SOON)
    keys.follow(plan.get_by_role("link", name="Wait 1 hour", exact=True))
    keys.type(page.get_by_label("How long"), "3")
    _save(keys)
    keys.follow(_link(keys, "Settings of this automation"), "Shift+Tab")
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    keys.to(page.get_by_label("Whoever becomes due leaves at that step"))
    keys.press("ArrowDown")
    expect(page.get_by_label("Whoever becomes due waits at that step")).to_be_checked()
    _save(keys, "changing the settings")
    keys.follow(_link(keys, "Publish…"), "Shift+Tab")
    _page(keys, f"Publish “{NAME}”")
    keys.to(page.get_by_label("Stay: 1 person finishes the revision they are on"))
    keys.press("ArrowDown")
    expect(page.get_by_label("Move: 1 person goes on in revision 2")).to_be_checked()
    keys.follow(_button(keys, "Publish revision 2"))
    _said(keys, "1 person goes on in it.")


def _let_go_on(keys: Keys) -> None:
    page = keys.page
    _run_of(keys, LEE)
    expect(page.get_by_text("This person is held here until somebody resumes it.")).to_be_visible(
        timeout=SOON
    )
    keys.content()
    keys.follow(_link(keys, "Open the automation"))
    _page(keys, NAME)
    keys.follow(_button(keys, "Resume…"))
    dialog = page.get_by_role("dialog", name=f"Resume “{NAME}”?")
    expect(dialog).to_contain_text("1 of 1 person is overdue.")
    keys.back(dialog.get_by_label("Shift"))
    keys.press("ArrowDown")
    expect(dialog.get_by_label("Go on now")).to_be_checked()
    keys.follow(dialog.get_by_role("button", name="Resume"))
    _said(keys, "Automation resumed")
    _run_of(keys, LEE)
    expect(_log(keys)).to_contain_text("plan is “pro”? → no", timeout=SOON)


def _ask_why_not(keys: Keys) -> None:
    page = keys.page
    _find(keys, NOA)
    keys.content()
    keys.follow(_link(keys, "Why not in …?"))
    _page(keys, "Why, or why not: Noa Conrad")
    keys.choose(page.get_by_label("Automation"), NAME)
    keys.follow(_button(keys, "Ask"))
    expect(
        page.get_by_role("heading", name="When it happened, the automation was paused.")
    ).to_be_visible()
