"""Links in mails: read back as they were made, and never made by anybody else."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.delivery.links import Links, UnsubscribeToken
from tests.factories.delivery import LINKS

_IDS: Final = st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True)


def token_of(url: str) -> str:
    return url.removeprefix("https://stellwerk.example/u/")


@given(workspace=_IDS, contact=_IDS, send=st.none() | _IDS)
def test_a_link_is_read_back_as_it_was_made(workspace: str, contact: str, send: str | None) -> None:
    token = token_of(LINKS.unsubscribe(workspace, contact, send))
    assert LINKS.read_unsubscribe(token) == UnsubscribeToken(workspace, contact, send)


@given(made_up=st.text(max_size=250))
def test_no_text_is_a_link_by_chance(made_up: str) -> None:
    assert LINKS.read_unsubscribe(made_up) is None


def test_every_changed_character_spoils_a_link() -> None:
    token = token_of(LINKS.unsubscribe("workspace", "contact", "send"))
    for place, letter in enumerate(token):
        other = "A" if letter != "A" else "B"
        assert LINKS.read_unsubscribe(token[:place] + other + token[place + 1 :]) is None
        assert LINKS.read_unsubscribe(token[:place]) is None


def test_another_installation_takes_none_of_it() -> None:
    elsewhere = Links(LINKS.base_url, "the secret of somebody else, long enough")
    assert elsewhere.read_unsubscribe(token_of(LINKS.unsubscribe("w", "c"))) is None


def test_a_preview_reads_as_nobodys() -> None:
    assert LINKS.read_unsubscribe(token_of(LINKS.unsubscribe_preview())) is None


@pytest.mark.parametrize(
    ("base", "begins"),
    [
        ("https://münchen.example:8443/mail", "https://xn--mnchen-3ya.example:8443/mail/u/"),
        ("https://post.example/gruß", "https://post.example/gru%C3%9F/u/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/u/"),
    ],
)
def test_an_address_travels_in_ascii(base: str, begins: str) -> None:
    url = Links(base, "secret").unsubscribe("workspace", "contact")
    assert url.isascii()
    assert url.startswith(begins)


def test_the_secret_stands_in_no_log() -> None:
    assert "secret" not in repr(LINKS)
