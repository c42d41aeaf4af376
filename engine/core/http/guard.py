"""Which addresses may be reached, and connections that end at the deadline of their call.

The host is looked up once, every address is judged, and one of those very addresses is connected
to: a name that changes its mind meanwhile (rebinding) leads nowhere.
"""

import ipaddress
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from socket import SOCK_STREAM, getaddrinfo
from threading import Thread
from typing import Any, Final

import httpcore2

NOT_ALLOWED: Final = "address_not_allowed"
NAME_NOT_FOUND: Final = "name_not_found"
NO_CONNECTION: Final = "no_connection"
TLS_FAILED: Final = "tls_failed"
DEADLINE: Final = "deadline"

# A slow reader is asked again after so many bytes, so that writing ends at the deadline too.
PIECE: Final = 16_384
# (host, port) → its addresses, none where there is no such name. Knows no time limit.
Resolve = Callable[[str, int], Sequence[str]]
# (address, port, seconds) → a connection. Raises httpcore2's ConnectError or ConnectTimeout.
Connect = Callable[[str, int, float], httpcore2.NetworkStream]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_USUAL_V6: Final = ipaddress.IPv6Network("2000::/3")
# Counted as global by some versions of the standard library, yet they lead inside.
_INSIDE: Final = (
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv6Network("2002::/16"),
    ipaddress.IPv6Network("2001::/23"),
)


class Stop(Exception):
    """Ends a call with a reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Deadline:
    """The end of one call."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left; raises at the end."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise Stop(DEADLINE)
        return left


class Guard(httpcore2.NetworkBackend):
    """Connects to hosts that may be reached, under the call's deadline."""

    def __init__(
        self, allowed: frozenset[str], deadline: Deadline, resolve: Resolve, connect: Connect
    ) -> None:
        self._allowed = allowed
        self._deadline = deadline
        self._resolve = resolve
        self._connect = connect

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - signature of the library
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Look the host up once, judge every address, and connect to one of those."""
        addresses = _in_time(self._resolve, host, port, self._deadline)
        if plain(host) not in self._allowed and not all(map(is_public, addresses)):
            raise Stop(NOT_ALLOWED)
        for behind, address in enumerate(addresses, 1):
            # A silent first address must leave time for the others.
            seconds = self._deadline.left() / (len(addresses) - behind + 1)
            try:
                stream = self._connect(address, port, seconds)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
            return _Timed(stream, self._deadline)
        self._deadline.left()
        raise Stop(NO_CONNECTION)


class _Timed(httpcore2.NetworkStream):
    """A connection each of whose acts ends at the call's deadline, however slowly bytes drip."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Read what has come."""
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write everything."""
        for start in range(0, len(buffer), PIECE):
            self._stream.write(buffer[start : start + PIECE], self._deadline.left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 - signature of the library
    ) -> httpcore2.NetworkStream:
        """Go on in private; the certificate must be for the host's name, not for its address."""
        left = self._deadline.left()
        try:
            stream = self._stream.start_tls(ssl_context, server_hostname, left)
        except (httpcore2.ConnectError, ssl.SSLError):
            raise Stop(TLS_FAILED) from None
        return _Timed(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Answer what the library asks about the socket."""
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        """Close the socket."""
        self._stream.close()


def is_public(text: str) -> bool:
    """Return whether an IP address lies in the open internet, and leads nowhere inside."""
    address = _unwrapped(ipaddress.ip_address(text))
    if address.version == 6 and address not in _USUAL_V6:
        return False
    inside = any(address.version == net.version and address in net for net in _INSIDE)
    return address.is_global and not address.is_multicast and not inside


def _unwrapped(address: _Address) -> _Address:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host in the resolver's order; none for an unknown name."""
    try:
        answers = getaddrinfo(host, port, type=SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return [str(answer[4][0]) for answer in answers]


def tcp(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
    """Connect to an address within some seconds; raises ConnectError or ConnectTimeout."""
    return httpcore2.SyncBackend().connect_tcp(address, port, seconds)


def _in_time(resolve: Resolve, host: str, port: int, deadline: Deadline) -> Sequence[str]:
    """Ask the resolver in a thread that is left behind at the deadline."""
    found: list[str] = []

    def ask() -> None:
        found.extend(dict.fromkeys(resolve(host, port)))

    asking = Thread(target=ask, name="look-up", daemon=True)
    asking.start()
    asking.join(deadline.left())
    deadline.left()
    if not found:
        raise Stop(NAME_NOT_FOUND)
    return found


def plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()
