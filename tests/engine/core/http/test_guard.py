"""Which addresses the guarded client reaches, and that it goes where it looked (WHK-01)."""

from collections.abc import Sequence

import httpcore2
import pytest

from engine.core.http import (
    NAME_NOT_FOUND,
    NO_CONNECTION,
    NOT_ALLOWED,
    Call,
    Client,
    Connect,
    Unreachable,
    is_public,
    tcp,
)
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


def test_whk_01_a_name_that_leads_inside_is_refused_and_nothing_is_connected_to() -> None:
    network = Network([["127.0.0.1"]])
    answer = network.client().send(Call("GET", "http://harmless.example/"))
    assert answer == Unreachable(NOT_ALLOWED)
    assert network.connected == []


def test_whk_01_a_redirect_that_leads_inside_is_refused_and_nothing_is_connected_to(
    receiver: Receiver,
) -> None:
    receiver.status, receiver.headers = 302, {"Location": "http://inner.example/"}
    network = Network([["127.0.0.1"], ["10.0.0.7"]], reached=tcp)
    client = network.client("front.example")
    call = Call("GET", f"http://front.example:{receiver.port}/", redirects=3)
    assert client.send(call) == Unreachable(NOT_ALLOWED)
    assert network.asked == ["front.example", "inner.example"]
    assert network.connected == ["127.0.0.1"]


def test_one_private_address_among_public_ones_is_enough() -> None:
    network = Network([["1.1.1.1", "10.0.0.7"]])
    answer = network.client().send(Call("GET", "http://mixed.example/"))
    assert answer == Unreachable(NOT_ALLOWED)
    assert network.connected == []


def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    network = Network([["1.1.1.1"], ["127.0.0.1"]])
    answer = network.client().send(Call("GET", "http://rebinding.example/"))
    assert answer == Unreachable(NO_CONNECTION)
    assert (network.asked, network.connected) == (["rebinding.example"], ["1.1.1.1"])


def test_an_address_that_is_away_leaves_the_turn_to_the_next(receiver: Receiver) -> None:
    network = Network([["127.0.0.2", "127.0.0.1"]], reached=tcp)
    client = network.client("two.example")
    answer = client.send(Call("GET", f"http://two.example:{receiver.port}/"))
    assert not isinstance(answer, Unreachable)
    assert network.connected == ["127.0.0.2", "127.0.0.1"]
    assert len(receiver.received) == 1


def test_a_name_that_nobody_knows_is_connected_to_nowhere() -> None:
    network = Network([[]])
    answer = network.client().send(Call("GET", "http://nobody.example/"))
    assert answer == Unreachable(NAME_NOT_FOUND)
    assert network.connected == []


def _away(_address: str, _port: int, _seconds: float) -> httpcore2.NetworkStream:
    raise httpcore2.ConnectError("away")


class Network:
    """Stands in for the network: the resolver's answers, one list a question, and who was asked.

    reached: what happens where the client connects; nobody answers, if it is left out.
    """

    def __init__(self, lists: Sequence[Sequence[str]], reached: Connect = _away) -> None:
        self.lists, self.reached = lists, reached
        self.asked: list[str] = []
        self.connected: list[str] = []

    def client(self, *allowed: str) -> Client:
        """Return a client that knows no other way out."""
        return Client(allowed, resolve=self._resolve, connect=self._connect)

    def _resolve(self, host: str, _port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.lists[min(len(self.asked), len(self.lists)) - 1]

    def _connect(self, address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        self.connected.append(address)
        return self.reached(address, port, seconds)
