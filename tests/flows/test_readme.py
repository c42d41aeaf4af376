"""The README's walk, run as it is printed: from an event by curl to a mail.

The mail lands in the built-in outbox, at the SMTP sink, and at a real OpenSMTPD.
"""

import re
import subprocess

from playwright.sync_api import Page

from tests.rules.checks.source import ROOT
from tests.support import programs
from tests.support.browser import PageErrors
from tests.support.opensmtpd import OpenSmtpd
from tests.support.sink import SmtpSink
from tests.support.stack import PASSWORD, PROGRAM, Stack
from tests.support.waiting import wait_for

WALK = re.compile(r"<!-- walk -->\n```sh\n(.*?)```", re.DOTALL)
PRINTED_ADDRESS = "http://127.0.0.1:8000"


def _walk(stack: Stack) -> str:
    """Start the product, run the printed lines against it, and return the last answer."""
    curl = programs.need("curl", ("curl",))["curl"]
    stack.start("up", "--no-demo")
    stack.wait_until_ready()
    found = WALK.search((ROOT / "README.md").read_text())
    assert found, "the README has no walk"
    assert PRINTED_ADDRESS in found[1]
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", found[1].replace(PRINTED_ADDRESS, stack.base_url)],
        cwd=ROOT, env={**stack.env, "PATH": f"{PROGRAM.parent}:{curl.parent}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{stack.logs()}"
    return done.stdout


def _shows(page: Page, text: str) -> bool:
    page.reload()
    return page.get_by_text(text).count() > 0


def test_the_curl_leads_to_a_mail_in_the_outbox_page(
    stack: Stack, page: Page, page_errors: PageErrors
) -> None:
    assert '"triggered_automations":1' in re.sub(r"\s", "", _walk(stack))
    page.goto(stack.base_url)
    page.fill("[name=email]", "you@shop.example")
    page.fill("[name=password]", PASSWORD)
    page.click("[type=submit]")
    page.get_by_role("link", name="Outbox").first.click()
    wait_for(lambda: _shows(page, "Hello Ada"), "the mail on the outbox page")
    assert page_errors.found == []


def test_the_curl_leads_to_a_mail_at_an_smtp_server(stack: Stack, sink: SmtpSink) -> None:
    stack.env["STELLWERK_SMTP_URL"] = sink.url
    _walk(stack)
    [mail] = sink.wait_for_mails(1)
    assert mail.recipients == ("ada@person.example",)
    assert mail.message["subject"] == "Hello Ada"
    assert "Your trial of team has begun." in mail.content.decode()


def test_the_curl_leads_to_a_mail_at_a_real_opensmtpd(stack: Stack, opensmtpd: OpenSmtpd) -> None:
    stack.env["STELLWERK_SMTP_URL"] = opensmtpd.url
    _walk(stack)
    [mail] = opensmtpd.wait_for_mails(1)
    assert mail["subject"] == "Hello Ada"
    assert mail["delivered-to"] == "ada@person.example"
