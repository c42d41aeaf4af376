"""The guarded client against real servers: deadline, cap, redirects, proxies, broken answers."""

import socket
import time
from collections.abc import Callable
from threading import Event

import pytest

from engine.core.http import (
    BAD_ADDRESS,
    BAD_ANSWER,
    DEADLINE,
    NAME_NOT_FOUND,
    NO_CONNECTION,
    NOT_ALLOWED,
    TLS_FAILED,
    TOO_MANY_REDIRECTS,
    Answered,
    Call,
    Client,
    Unreachable,
)
from tests.support.receiver import Receiver, dripping
from tests.support.waiting import free_port

LOOPBACK = ("127.0.0.1",)


def get(client: Client, url: str, redirects: int = 0) -> Answered | Unreachable:
    """Ask for `url`."""
    return client.send(Call("GET", url, redirects=redirects))


def test_an_answer_comes_back_with_status_headers_and_body(receiver: Receiver) -> None:
    receiver.status, receiver.headers, receiver.body = 418, {"X-Kind": "teapot"}, b"short and stout"
    call = Call("POST", f"{receiver.url}/a?b=c", {"content-type": "text/plain"}, b"hello")
    answer = Client(LOOPBACK).send(call)
    assert isinstance(answer, Answered)
    assert (answer.status, answer.body, answer.cut, answer.good) == (
        418, b"short and stout", False, False,
    )  # fmt: skip
    assert answer.headers["x-kind"] == "teapot"
    [request] = receiver.received
    assert (request.method, request.path, request.body) == ("POST", "/a?b=c", b"hello")
    assert request.headers["content-type"] == "text/plain"
    assert request.headers["user-agent"] == "Stellwerk"
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize(
    "start",
    [b"HT", b"HTTP/1.1 200 OK\r\nx-a: ", b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"],
    ids=["status line", "headers", "body"],
)
def test_whk_08_a_drip_of_bytes_ends_at_the_deadline(receiver: Receiver, start: bytes) -> None:
    receiver.script = dripping(start)
    began = time.monotonic()
    answer = get(Client(LOOPBACK, seconds=0.6), receiver.url)
    took = time.monotonic() - began
    assert answer == Unreachable(DEADLINE)
    assert 0.5 <= took < 2.0


def test_whk_08_an_endless_answer_is_cut(receiver: Receiver) -> None:
    sent = []

    def stream(put: Callable[[bytes], None], _over: Event) -> None:
        put(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n")
        for _piece in range(1024):
            put(b"x" * 1_048_576)
            sent.append(1)

    receiver.script = stream
    answer = get(Client(LOOPBACK, largest=100_000), receiver.url)
    assert isinstance(answer, Answered)
    assert (len(answer.body), answer.cut) == (100_000, True)
    assert len(sent) < 64


def test_an_answer_of_exactly_the_cap_is_whole(receiver: Receiver) -> None:
    receiver.body = b"x" * 5000
    answer = get(Client(LOOPBACK, largest=5000), receiver.url)
    assert isinstance(answer, Answered)
    assert (len(answer.body), answer.cut) == (5000, False)


def test_a_server_that_reads_nothing_ends_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        began = time.monotonic()
        call = Call("POST", url, body=b"x" * 50_000_000)
        assert Client(LOOPBACK, seconds=0.5).send(call) == Unreachable(DEADLINE)
        assert time.monotonic() - began < 3


def test_a_slow_look_up_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    over = Event()

    def slow(*_arguments: object, **_options: object) -> list[object]:
        over.wait(30)
        return []

    monkeypatch.setattr("engine.core.http.guard.getaddrinfo", slow)
    began = time.monotonic()
    assert get(Client(seconds=0.3), "http://slow.example") == Unreachable(DEADLINE)
    assert time.monotonic() - began < 3
    over.set()


def test_a_redirect_is_an_answer_unless_the_call_says_otherwise(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 302, {"Location": f"{receiver.url}/there"}
    answer = get(Client(LOOPBACK), receiver.url)
    assert isinstance(answer, Answered)
    assert answer.status == 302
    assert len(receiver.received) == 1


def test_redirects_are_followed_as_often_as_stated(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 302, {"Location": "/again"}
    assert get(Client(LOOPBACK), receiver.url, redirects=3) == Unreachable(TOO_MANY_REDIRECTS)
    assert len(receiver.received) == 4


def test_whk_01_a_redirect_to_a_private_address_is_refused(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, {"front.example": "127.0.0.1"})
    receiver.status = 302
    receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/inside"}
    answer = get(Client(["front.example"]), f"http://front.example:{receiver.port}/", redirects=5)
    assert answer == Unreachable(NOT_ALLOWED)
    assert [request.path for request in receiver.received] == ["/"]


def test_a_redirect_out_of_http_is_refused(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 302, {"Location": "file:///etc/passwd"}
    assert get(Client(LOOPBACK), receiver.url, redirects=5) == Unreachable(BAD_ADDRESS)


def test_a_proxy_of_the_environment_is_not_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    answer = get(Client(LOOPBACK), receiver.url)
    assert isinstance(answer, Answered)
    assert answer.good


def test_the_host_by_name_travels_in_the_request(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, {"front.example": "127.0.0.1"})
    answer = get(Client([" Front.Example. "]), f"http://front.example:{receiver.port}/")
    assert isinstance(answer, Answered)
    assert receiver.received[0].headers["host"] == f"front.example:{receiver.port}"


def test_what_is_no_http_is_no_answer(receiver: Receiver) -> None:
    receiver.script = lambda put, _over: put(b"220 mail.example ESMTP\r\n")
    assert get(Client(LOOPBACK), receiver.url) == Unreachable(BAD_ANSWER)


def test_an_answer_that_breaks_off_is_no_answer(receiver: Receiver) -> None:
    receiver.script = lambda put, _over: put(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")
    assert get(Client(LOOPBACK), receiver.url) == Unreachable(BAD_ANSWER)


def test_a_server_without_tls_fails_https(receiver: Receiver) -> None:
    url = f"https://127.0.0.1:{receiver.port}/"
    assert get(Client(LOOPBACK), url) == Unreachable(TLS_FAILED)


def test_a_closed_port_is_no_connection() -> None:
    assert get(Client(LOOPBACK), f"http://127.0.0.1:{free_port()}") == Unreachable(NO_CONNECTION)


def test_an_unknown_name_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, {})
    assert get(Client(), "http://nowhere.example") == Unreachable(NAME_NOT_FOUND)


@pytest.mark.parametrize(
    "url",
    ["ftp://a.example/", "file:///etc/passwd", "http:///path", "no address", "", "http://[::1",
     "http://a.example:99999/", "gopher://a.example"],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    assert get(Client(), url) == Unreachable(BAD_ADDRESS)


def resolve(monkeypatch: pytest.MonkeyPatch, names: dict[str, str]) -> None:
    """Have the resolver know these names alone."""
    real = socket.getaddrinfo

    def known(host: str, port: int, **options: int) -> object:
        if host in names:
            return real(names[host], port, **options)
        if host[-1].isdigit():
            return real(host, port, **options)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr("engine.core.http.guard.getaddrinfo", known)
