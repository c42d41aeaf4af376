"""The one guarded door to the web of others (architecture 7): every outbound call goes through it.

One deadline for the whole call, name look-up included; a cap on the answer; no address inside a
private network unless the operator lists the host, judged behind the look-up and at each redirect,
and the connection goes to the very address that was judged. No proxy of the environment.
"""

from engine.core.http.client import (
    BAD_ADDRESS,
    BAD_ANSWER,
    TOO_MANY_REDIRECTS,
    Answered,
    Call,
    Client,
    Unreachable,
)
from engine.core.http.guard import (
    DEADLINE,
    NAME_NOT_FOUND,
    NO_CONNECTION,
    NOT_ALLOWED,
    TLS_FAILED,
    Connect,
    Resolve,
    is_public,
    look_up,
    tcp,
)
from engine.core.http.installed import install, outbound

__all__ = [
    "BAD_ADDRESS",
    "BAD_ANSWER",
    "DEADLINE",
    "NAME_NOT_FOUND",
    "NOT_ALLOWED",
    "NO_CONNECTION",
    "TLS_FAILED",
    "TOO_MANY_REDIRECTS",
    "Answered",
    "Call",
    "Client",
    "Connect",
    "Resolve",
    "Unreachable",
    "install",
    "is_public",
    "look_up",
    "outbound",
    "tcp",
]
