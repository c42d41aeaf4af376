"""Messages: no header can be injected, any address is handled or named as the fault."""

from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Final

import pytest

from engine.delivery.compose.letter import Envelope, Unwritable, Written, write
from engine.delivery.compose.render import Rendered
from engine.delivery.kinds.base import INVALID_RECIPIENT, INVALID_SENDER

NOW: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
MAIL: Final = Rendered("Grüße & mehr", "<p>Grüße</p>", "Grüße\n.\nFrom here")


def envelope(**parts: Any) -> Envelope:
    return Envelope(
        **{
            "public_id": "msg_1",
            "to_email": "kim@people.example",
            "from_email": "team@acme.example",
            "from_name": "Acme",
            "reply_to": None,
            **parts,
        }
    )


def written(**parts: Any) -> Written:
    made = write(envelope(**parts), MAIL, NOW)
    assert isinstance(made, Written), made
    return made


def message(made: Written) -> EmailMessage:
    return message_from_bytes(made.letter.content, policy=policy.default)


def test_a_message_has_what_mail_needs() -> None:
    made = written(reply_to="reply@acme.example")
    read = message(made)
    assert str(read["From"]) == "Acme <team@acme.example>"
    assert str(read["To"]) == "kim@people.example"
    assert str(read["Reply-To"]) == "reply@acme.example"
    assert str(read["Subject"]) == "Grüße & mehr"
    assert str(read["Message-ID"]) == made.message_id == "<msg_1@acme.example>"
    assert read["Date"].datetime == NOW
    assert "List-Unsubscribe" not in read
    text, html = read.iter_parts()
    assert text.get_content().splitlines() == ["Grüße", ".", "From here"]
    assert html.get_content().strip() == "<p>Grüße</p>"
    assert made.letter.content.isascii()
    assert made.headers.startswith("From: ")


@pytest.mark.parametrize(
    "name",
    [
        "Acme\r\nBcc: all@people.example",
        "Acme\nX: y",
        'A "quoted" <b>, c',
        "Grüße GmbH",
        "",
        "\x00",
    ],
)
def test_a_sender_name_adds_no_header(name: str) -> None:
    read = message(written(from_name=name))
    assert set(read.keys()) == {
        *("From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"),
    }
    assert len(read["From"].addresses) == 1
    assert read["From"].addresses[0].addr_spec == "team@acme.example"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "kim",
        "@people.example",
        "kim@",
        "a b@people.example",
        "a@b@people.example",
        "kim@.example",
        "kim@people.example\r\nBcc: x@y.example",
        "kim@exa mple",
        "a,b@people.example",
        "kim@-x.example",
        "<kim@people.example>",
        "kim@people..example",
        "x" * 65 + "@people.example",
        "\ud800@x.example",
        ".kim@people.example",
        "k..m@people.example",
        "kim@" + "x" * 64 + ".example",
    ],
)
def test_an_impossible_address_is_named_as_the_fault(address: str) -> None:
    assert write(envelope(to_email=address), MAIL, NOW) == Unwritable(INVALID_RECIPIENT)
    assert write(envelope(from_email=address), MAIL, NOW) == Unwritable(INVALID_SENDER)
    if address:
        assert write(envelope(reply_to=address), MAIL, NOW) == Unwritable(INVALID_SENDER)


def test_an_international_domain_travels_in_ascii() -> None:
    made = written(to_email="kim@bücher.example")
    assert made.letter.recipient == "kim@xn--bcher-kva.example"
    assert not made.letter.utf8


def test_an_international_local_part_asks_for_smtputf8() -> None:
    made = written(to_email="jörg@people.example")
    assert made.letter.utf8
    assert "jörg@people.example".encode() in made.letter.content


@pytest.mark.parametrize("length", [20, 60, 400])
def test_mail_that_can_be_ended_says_where_on_one_line(length: int) -> None:
    url = "https://stellwerk.example/u/" + "aB3-_.x" * length
    made = written(unsubscribe_url=url)
    # Byte for byte: a folded or encoded address is none that a mail program could post to.
    assert f"\r\nList-Unsubscribe: <{url}>\r\n".encode() in made.letter.content
    read = message(made)
    assert str(read["List-Unsubscribe"]) == f"<{url}>"
    assert str(read["List-Unsubscribe-Post"]) == "List-Unsubscribe=One-Click"
    assert f"List-Unsubscribe: <{url}>\n" in made.headers
