"""Every effect names the sweep that finds the same work in the rows (decision G2)."""

import importlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_type_hints

from engine.core.effects import Effect
from tests.rules.checks.source import sources

PLAIN: Final[set[Any]] = {int, str, tuple[int, ...], datetime, datetime | None, int | None}
SWEEPS: Final = frozenset(
    {
        "steps", "sends", "scans", "campaigns-due", "campaigns-sending", "send-jobs", "ab-winners",
        "agent-retries", "agent-stuck", "agent-replies", "agent-health", "segments",
        "confirmations", "imports", "webhooks", "dates", "outbox", "imap", "rollup", "retention",
        "purge", "run-jobs",
    }
)  # fmt: skip


def without_sweep(effects: list[type[Effect]], sweeps: frozenset[str]) -> list[str]:
    """Return the effect classes that name no sweep of `sweeps`."""
    return [effect.__name__ for effect in effects if getattr(effect, "sweep", None) not in sweeps]


def _effects() -> list[type[Effect]]:
    for source in sources("engine"):
        if source.name == "effects.py":
            importlib.import_module(source.path.removesuffix(".py").replace("/", "."))
    found: list[type[Effect]] = []
    waiting = [Effect]
    while waiting:
        below = [
            kind for kind in waiting.pop().__subclasses__() if kind.__module__.startswith("engine")
        ]
        found += below
        waiting += below
    return found


def test_there_are_effects() -> None:
    assert {"WalkSteps", "DispatchSends"} <= {effect.__name__ for effect in _effects()}


def test_every_effect_names_a_sweep_of_the_command_line() -> None:
    assert without_sweep(_effects(), SWEEPS) == []


def with_content(effects: list[type[Effect]]) -> list[str]:
    """Return the effects that are no frozen values of ids, names and times."""
    return [
        effect.__name__
        for effect in effects
        if not _is_frozen(effect)
        or not {kind for name, kind in get_type_hints(effect).items() if name != "sweep"} <= PLAIN
    ]


def _is_frozen(effect: type[Effect]) -> bool:
    parameters = getattr(effect, "__dataclass_params__", None)
    return parameters is not None and bool(parameters.frozen)


def test_effects_are_frozen_values_of_ids_and_times() -> None:
    assert with_content(_effects()) == []


def test_a_planted_effect_with_content_is_found() -> None:
    @dataclass(frozen=True)
    class Heavy(Effect):
        """Carries a whole document."""

        document: dict[str, str]

    assert with_content([Heavy]) == ["Heavy"]


def test_a_planted_effect_without_sweep_is_found() -> None:
    class Forgotten(Effect):
        """Names no sweep."""

    class Mistyped(Effect):
        """Names a sweep that nobody runs."""

        sweep = "stepz"

    assert without_sweep([Forgotten, Mistyped], SWEEPS) == ["Forgotten", "Mistyped"]
