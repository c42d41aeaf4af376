"""The way out of a real mail: sent by a worker, followed to the web, and no more mail comes."""

import urllib.request
from urllib.parse import urlsplit

from tests.factories.automations import delay, document, email
from tests.support.sink import SmtpSink
from tests.support.stack import Stack
from tests.support.waiting import wait_for


def test_one_click_in_a_mail_program_ends_the_newsletter_and_not_the_receipt(
    stack: Stack, sink: SmtpSink
) -> None:
    stack.env["STELLWERK_SMTP_URL"] = sink.url
    stack.up()
    letter = _template(stack, "News", "marketing", "<a href='{{ unsubscribe_url }}'>out</a>")
    more = _template(stack, "More news", "marketing", "<p>More</p>")
    receipt = _template(stack, "Receipt", "service", "<p>Paid</p>")
    steps = (email("news", letter), delay("wait", 1), email("more", more), email("paid", receipt))
    automation = stack.api("POST", "/automations", document(*steps)).json()["id"]
    moved = stack.api("POST", f"/automations/{automation}/transitions", {"to": "active"})
    assert moved.status == 200, moved.body
    kim = {"email": "kim@person.example", "event_name": "go", "create_contact_if_not_exists": True}
    contact = stack.api("POST", "/events", kim).json()["contact_id"]

    (news,) = sink.wait_for_mails(1, 60)
    url = str(news.message["List-Unsubscribe"]).strip("<>")
    assert url.startswith(f"{stack.env['STELLWERK_BASE_URL']}/u/")
    assert url in news.message.get_body(("html",)).get_content()  # type: ignore[union-attr]
    path = urlsplit(url).path
    assert stack.request("GET", path).status == 200
    assert stack.api("GET", f"/contacts/{contact}").json()["unsubscribed_at"] is None
    _click(url)
    assert stack.api("GET", f"/contacts/{contact}").json()["unsubscribed_at"] is not None

    stack.move_clock(24 * 3600 + 60)
    wait_for(lambda: len(sink.mails) > 1, "the receipt", 120)
    wait_for(
        lambda: (
            [run["status"] for run in stack.api("GET", "/runs").json()["items"]] == ["completed"]
        ),
        "the run's end",
        60,
    )
    assert [str(mail.message["Subject"]) for mail in sink.mails] == ["News", "Receipt"]
    assert sink.mails[1].message["List-Unsubscribe"] is None
    (run,) = stack.api("GET", "/runs").json()["items"]
    visits = stack.api("GET", f"/runs/{run['id']}").json()["step_runs"]
    told = {visit["step_key"]: visit for visit in visits}
    assert told["more"]["status"] == "completed"
    assert "unsubscribed" in str(told["more"])


def _click(url: str) -> None:
    """Post to the link as a mail program does: no cookie, no page, no script."""
    asked = urllib.request.Request(url, data=b"List-Unsubscribe=One-Click")  # noqa: S310
    with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - the loopback address
        assert answer.status == 200


def _template(stack: Stack, name: str, purpose: str, html: str) -> str:
    body = {"name": name, "subject": name, "purpose": purpose, "html": html}
    answer = stack.api("POST", "/templates", body)
    assert answer.status == 201, answer.body
    return str(answer.json()["id"])
