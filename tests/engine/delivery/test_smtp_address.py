"""STELLWERK_SMTP_URL: the host, port and privacy that an address asks for."""

import pytest

from engine.delivery.smtp_address import read_address


@pytest.mark.parametrize(
    ("url", "port", "starttls"),
    [
        ("smtp://mail.example", 25, "opportunistic"),
        ("smtp://u:p@mail.example", 587, "opportunistic"),
        ("smtps://u:p@mail.example", 465, "off"),
        ("smtp://u:p@mail.example:2525?starttls=required", 2525, "required"),
        ("smtp://mail.example:25/?starttls=off", 25, "off"),
    ],
)
def test_an_address_is_read(url: str, port: int, starttls: str) -> None:
    address = read_address(url)
    assert (address.host, address.port, address.starttls) == ("mail.example", port, starttls)
