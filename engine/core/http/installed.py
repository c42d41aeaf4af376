"""The client of this process for addresses that people of the workspaces name."""

from engine.core.http.client import Client

_client: Client | None = None


def install(client: Client) -> None:
    """Make `client` the one for outbound calls; boot does that, and tests with ports of theirs."""
    global _client
    _client = client


def outbound() -> Client:
    """Return the installed client. Raises LookupError before boot."""
    if _client is None:
        raise LookupError("no client is installed; boot does that")
    return _client
