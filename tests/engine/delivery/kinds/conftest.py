"""Transports whose connections end with the test, and servers that say nothing."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from engine.delivery.kinds.smtp import Smtp
from engine.delivery.smtp_address import read_address
from tests.engine.delivery.kinds.letters import MakeSmtp
from tests.support.sink import SmtpSink


@pytest.fixture
def make_smtp() -> Iterator[MakeSmtp]:
    """Return a factory of transports; their connections are closed at the end."""
    made: list[Smtp] = []

    def make(url: str, seconds: float = 20.0) -> Smtp:
        made.append(Smtp(read_address(url), "here.example", seconds))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


@pytest.fixture
def transport(sink: SmtpSink, make_smtp: MakeSmtp) -> Smtp:
    """Return a transport to `sink`."""
    return make_smtp(sink.url)


@pytest.fixture
def silent() -> Iterator[Callable[[bytes, bytes], int]]:
    """Return a factory of servers that say one thing, then drip bytes or say nothing at all."""
    open_sockets: list[socket.socket] = []
    over = threading.Event()
    threads: list[threading.Thread] = []

    def serve(listener: socket.socket, greeting: bytes, drip: bytes) -> None:
        listener.settimeout(10)
        with listener.accept()[0] as connection:
            connection.sendall(greeting)
            while not over.wait(0.05):
                try:
                    connection.sendall(drip)
                except OSError:
                    return

    def make(greeting: bytes, drip: bytes) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        open_sockets.append(listener)
        threads.append(threading.Thread(target=serve, args=(listener, greeting, drip)))
        threads[-1].start()
        return int(listener.getsockname()[1])

    yield make
    over.set()
    for thread in threads:
        thread.join()
    for each in open_sockets:
        each.close()
