"""Which addresses the guarded client reaches, and that it goes where it looked (WHK-01)."""

import socket
from typing import Any

import httpcore2
import pytest

from engine.core.http import NO_CONNECTION, NOT_ALLOWED, Call, Client, Unreachable, is_public
from tests.support.receiver import Receiver


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0",  # noqa: S104
        "10.0.0.7", "172.16.0.1", "192.168.1.1", "192.0.0.8",
        "169.254.169.254", "100.64.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "198.18.0.1",
        "::1", "::", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.7", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2002:7f00:1::1", "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1", "2001:0:7f00:1::1", "2001:db8::1",
    ],
)  # fmt: skip
def test_whk_01_no_private_address_counts_as_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "::ffff:1.1.1.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_the_open_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0x7f000001", "2130706433", "0x7f.1", "0", "127.1",
     "169.254.169.254", "10.0.0.7", "[::ffff:127.0.0.1]", "LOCALHOST", "user:pw@127.0.0.1"],
)  # fmt: skip
def test_whk_01_nothing_private_is_reached_however_it_is_spelled(
    receiver: Receiver, host: str
) -> None:
    answer = Client().send(Call("GET", f"http://{host}:{receiver.port}/"))
    assert answer == Unreachable(NOT_ALLOWED)
    assert receiver.received == []


def test_whk_01_a_name_that_leads_inside_is_refused(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, [["127.0.0.1"]])
    answer = Client().send(Call("GET", f"http://harmless.example:{receiver.port}/"))
    assert answer == Unreachable(NOT_ALLOWED)
    assert receiver.received == []


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, [["1.1.1.1", "10.0.0.7"]])
    connected = connections(monkeypatch)
    assert Client().send(Call("GET", "http://mixed.example/")) == Unreachable(NOT_ALLOWED)
    assert connected == []


def test_the_connection_goes_to_the_address_that_was_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = answers(monkeypatch, [["1.1.1.1"], ["127.0.0.1"]])
    connected = connections(monkeypatch)
    answer = Client().send(Call("GET", "http://rebinding.example/"))
    assert answer == Unreachable(NO_CONNECTION)
    assert (asked, connected) == (["rebinding.example"], ["1.1.1.1"])


def test_an_address_that_is_away_leaves_the_turn_to_the_next(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, [["127.0.0.2", "127.0.0.1"]])
    answer = Client(["two.example"]).send(Call("GET", f"http://two.example:{receiver.port}/"))
    assert not isinstance(answer, Unreachable)
    assert len(receiver.received) == 1


def answers(monkeypatch: pytest.MonkeyPatch, lists: list[list[str]]) -> list[str]:
    """Have the resolver give these answers, one list per question; return who was asked for."""
    asked: list[str] = []

    def resolver(host: str, port: int, **_options: int) -> list[Any]:
        asked.append(host)
        kind = socket.SOCK_STREAM
        found = lists[min(len(asked), len(lists)) - 1]
        return [(socket.AF_INET, kind, 6, "", (address, port)) for address in found]

    monkeypatch.setattr("engine.core.http.guard.getaddrinfo", resolver)
    return asked


def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which addresses are connected to, and let none answer."""
    connected: list[str] = []

    def connect(_self: object, host: str, *_arguments: object) -> None:
        connected.append(host)
        raise httpcore2.ConnectError("away")

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    return connected
