"""E-mail addresses: one spelling a person, and what is none."""

import pytest

from engine.audience.addresses import address_key, read_address


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("ada@people.example", "ada@people.example"),
        ("  Ada.Lovelace+News@People.EXAMPLE ", "ada.lovelace+news@people.example"),
        ("ada@müller.example", "ada@xn--mller-kva.example"),
        ("ada@xn--mller-kva.example", "ada@xn--mller-kva.example"),
    ],
)
def test_spellings_of_one_address_have_one_key(text: str, key: str) -> None:
    assert read_address(text) == key
    assert address_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "ada@",
        "@people.example",
        "ada@people",
        "ada lovelace@people.example",
        "ada@people.example\r\nBcc: all@people.example",
        "ada@people.example\n",
        "\nada@people.example",
        "ada@people.example, grace@people.example",
        "Ada <ada@people.example>",
        "ada@[127.0.0.1]",
        "ada@" + "people." * 40 + "example",
        "a" * 300 + "@people.example",
        "ad\x00a@people.example",
        "ädä@people.example",
        "\ud800@people.example",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert read_address(text) is None
