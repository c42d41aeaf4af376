"""What the tests of the whole path find in place: people, and a property that tells them apart.

The console has no page that makes a person or a property: both come from the product, by the API.
"""

from typing import Final

from playwright.sync_api import Page

from tests.support.sink import SmtpSink
from tests.support.stack import OWNER, PASSWORD, Stack

KIM: Final = "kim.arnold@people.example"
LEE: Final = "lee.brandt@people.example"
NOA: Final = "noa.conrad@people.example"
# How long a worker on a busy machine may take until a page shows what it did (ms).
SOON: Final = 30_000
HOUR: Final = 3_600


def lay(stack: Stack, sink: SmtpSink) -> None:
    """Start the stack with three people: Kim and Noa have the plan “pro”, Lee has “free”."""
    stack.env["STELLWERK_SMTP_URL"] = sink.url
    stack.up()
    _post(stack, "/properties", {"key": "plan", "type": "text", "label": "Plan"})
    for address, plan in ((KIM, "pro"), (LEE, "free"), (NOA, "pro")):
        first, last = address.partition("@")[0].title().split(".")
        person = {"email": address, "first_name": first, "last_name": last}
        _post(stack, "/contacts", {**person, "properties": {"plan": plan}})


def enter(stack: Stack, page: Page) -> None:
    """Open the one address that is typed, and sign in."""
    page.goto(f"{stack.base_url}/")
    page.get_by_label("E-mail address").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def mail_reached_kim(sink: SmtpSink) -> None:
    """Wait until the server of mails has one for Kim, with Kim's name in it."""
    [mail] = sink.wait_for_mails(1)
    assert mail.recipients == (KIM,)
    assert mail.message["Subject"] == "Welcome, Kim"


def _post(stack: Stack, path: str, document: object) -> None:
    answer = stack.api("POST", path, document)
    assert answer.status < 300, answer.body
