"""The client of a process: boot installs it, and others may stand in for the network."""

import pytest

from engine.core import crypto, http
from engine.core.http import installed
from engine.house import House


def test_a_started_house_has_a_client_that_goes_nowhere_inside_and_a_key(house: House) -> None:
    assert house.runtime.secret_key
    refused = http.outbound().send(http.Call("GET", "http://127.0.0.1:9/"))
    assert refused == http.Unreachable(http.NOT_ALLOWED)
    assert crypto.unseal(crypto.seal("hook", "webhook"), "webhook") == "hook"


def test_the_installed_client_is_the_one_that_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "_client", None)
    with pytest.raises(LookupError, match="no client"):
        http.outbound()
    client = http.Client()
    http.install(client)
    assert http.outbound() is client
