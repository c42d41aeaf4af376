"""An HTTP server of somebody else: keeps what it gets, answers as told, and can misbehave."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Final

import pytest

DRIP_SECONDS: Final = 0.05


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body read as JSON."""
        return json.loads(self.body)


# Writes a whole answer, status line included, to the handler's socket; may block on `over`.
Script = Callable[[Callable[[bytes], None], Event], None]


@dataclass
class Receiver:
    """A running receiver; see the fixture `receiver`. `script` takes the place of `answer`."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    script: Script | None = None
    received: list[Received] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = Event()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """Let every script go on, and stop."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """Serves one connection."""

            def serve(self) -> None:
                """Keep the request, then answer."""
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                names = {name.lower(): value for name, value in self.headers.items()}
                with receiver._lock:
                    receiver.received.append(Received(self.command, self.path, names, body))
                if receiver.script is not None:
                    self.close_connection = True
                    receiver.script(self.put, receiver._over)
                    return
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(receiver.body)))
                self.end_headers()
                self.wfile.write(receiver.body)

            def put(self, data: bytes) -> None:
                """Write raw bytes; a caller that hung up ends the script."""
                self.wfile.write(data)
                self.wfile.flush()

            def handle(self) -> None:
                """Serve; a caller may hang up whenever it likes."""
                try:
                    super().handle()
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

            do_GET = do_POST = do_PUT = serve

        return Handler


def dripping(start: bytes) -> Script:
    """Return a script that says `start` at once and then one byte after the other, for ever."""

    def drip(put: Callable[[bytes], None], over: Event) -> None:
        put(start)
        while not over.wait(DRIP_SECONDS):
            put(b"x")

    return drip


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Return a running receiver on a loopback port."""
    running = Receiver()
    yield running
    running.stop()
