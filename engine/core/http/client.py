"""A client of the web of others: guarded calls in, typed answers out."""

import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Final

import httpcore2
import httpx2

from engine.core import faults
from engine.core.http.guard import (
    DEADLINE,
    NO_CONNECTION,
    PIECE,
    Connect,
    Deadline,
    Guard,
    Resolve,
    Stop,
    look_up,
    plain,
    tcp,
)

SECONDS: Final = 10.0
LARGEST: Final = 1_048_576
BAD_ADDRESS: Final = "bad_address"
BAD_ANSWER: Final = "bad_answer"
TOO_MANY_REDIRECTS: Final = "too_many_redirects"


@dataclass(frozen=True)
class Call:
    """What to ask. redirects: how many may be followed (httpx2's rules for method and headers)."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    redirects: int = 0


@dataclass(frozen=True)
class Answered:
    """A server answered, whatever its status. body: cut at the cap, still in its encoding.

    headers: names in lower case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False

    @property
    def good(self) -> bool:
        """Whether the server took it (2xx)."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Unreachable:
    """No answer. `reason` is a code for operators; to others all of them should read alike."""

    reason: str


class Client:
    """Makes guarded calls; used by many threads.

    allowed: hosts, by name or address as they stand in the URL, that may be private.
    seconds: the longest a call may take; largest: bytes of an answer that are read. resolve,
    connect: the only ways to the network, so that others may stand in for them.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        seconds: float = SECONDS,
        largest: int = LARGEST,
        *,
        resolve: Resolve = look_up,
        connect: Connect = tcp,
    ) -> None:
        self._allowed = frozenset(plain(host) for host in allowed if host.strip())
        self._resolve = resolve
        self._connect = connect
        self._seconds = seconds
        self._largest = largest

    def send(self, call: Call) -> Answered | Unreachable:
        """Make the call and read its answer, or say why there is none. Raises nothing expected."""
        faults.point("http.asking")
        answer = self._answer(call)
        faults.point("http.answered")
        return answer

    def _answer(self, call: Call) -> Answered | Unreachable:
        try:
            return self._converse(call)
        except Stop as stop:
            return Unreachable(stop.reason)
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError):
            return Unreachable(BAD_ADDRESS)
        except httpx2.TooManyRedirects:
            return Unreachable(TOO_MANY_REDIRECTS)
        except httpx2.RemoteProtocolError:
            return Unreachable(BAD_ANSWER)
        except (httpcore2.TimeoutException, httpx2.TimeoutException):
            return Unreachable(DEADLINE)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpx2.TransportError):
            return Unreachable(NO_CONNECTION)

    def _converse(self, call: Call) -> Answered:
        deadline = Deadline(self._seconds)
        with (
            httpx2.Client(
                transport=_Transport(Guard(self._allowed, deadline, self._resolve, self._connect)),
                trust_env=False,
                follow_redirects=call.redirects > 0,
                max_redirects=call.redirects,
            ) as client,
            client.stream(
                call.method,
                call.url,
                headers={"user-agent": "Stellwerk", **call.headers, "accept-encoding": "identity"},
                content=call.body or None,
            ) as response,
        ):
            body, cut = self._read(response.iter_raw(PIECE))
            return Answered(response.status_code, dict(response.headers), body, cut)

    def _read(self, pieces: Iterator[bytes]) -> tuple[bytes, bool]:
        read = bytearray()
        for piece in pieces:
            read += piece
            if len(read) > self._largest:
                return bytes(read[: self._largest]), True
        return bytes(read), False


class _Transport(httpx2.BaseTransport):
    """httpx2 over connections of our own making; one pool per call, nothing is kept open."""

    def __init__(self, guard: "Guard") -> None:
        self._pool = httpcore2.ConnectionPool(_tls(), network_backend=guard)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; redirects come here again as requests of their own."""
        web = request.url.scheme in ("http", "https")
        if not web or not request.url.host or not 0 < (request.url.port or 80) < 65_536:
            raise Stop(BAD_ADDRESS)
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        try:
            answer = self._pool.handle_request(
                httpcore2.Request(
                    request.method, url, headers=request.headers.raw, content=request.read()
                )
            )
        except httpcore2.RemoteProtocolError:
            raise Stop(BAD_ANSWER) from None
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=_Body(answer), request=request
        )

    def close(self) -> None:
        """Close what is still open."""
        self._pool.close()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()


class _Body(httpx2.SyncByteStream):
    """The answer's body as httpx2 wants it."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._answer.iter_stream()
        except httpcore2.RemoteProtocolError:
            raise Stop(BAD_ANSWER) from None

    def close(self) -> None:
        """Let go of the connection."""
        self._answer.close()


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
