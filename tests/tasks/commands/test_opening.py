"""Where the console is reached: the port's address unless the operator names another."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.core.settings import Settings
from tasks.commands import opening
from tasks.commands.opening import reached_at


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what the processes we start are told."""
    values: dict[str, str] = {}
    monkeypatch.setattr(opening, "os", SimpleNamespace(putenv=values.__setitem__))
    return values


@pytest.mark.parametrize("port", [8000, 8099])
def test_the_address_follows_the_port(tmp_path: Path, told: dict[str, str], port: int) -> None:
    assert reached_at(Settings(home=tmp_path), port) == f"http://127.0.0.1:{port}"
    assert told == {
        "STELLWERK_PORT": str(port),
        "STELLWERK_BASE_URL": f"http://127.0.0.1:{port}",
    }


def test_the_operators_address_stands(tmp_path: Path, told: dict[str, str]) -> None:
    settings = Settings(home=tmp_path, base_url="https://console.example")
    assert reached_at(settings, 8099) == "https://console.example"
    assert told["STELLWERK_BASE_URL"] == "https://console.example"
