"""What an act answers: values, not exceptions. The rim turns them into words and codes."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Transitioned:
    """The status really changed."""

    before: str
    after: str


@dataclass(frozen=True)
class Recorded:
    """The status was already the one asked for: harmless, audited with no_op."""

    status: str


@dataclass(frozen=True)
class Problem:
    """One fault of an input: where (JSON pointer) and what, as a code with parameters."""

    pointer: str
    code: str
    params: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """An expected "no". `reason` is a stable word; `kind` says which sort of no it is.

    kind: `missing` (no such thing here), `invalid` (the input is wrong; see problems),
    `conflict` (the state or another person forbids it now), `forbidden`, `too_many`.
    """

    reason: str
    kind: str = "conflict"
    problems: tuple[Problem, ...] = ()
    params: Mapping[str, str | int] = field(default_factory=dict)


def below(pointer: str, *parts: str | int) -> str:
    """Return the JSON pointer of `parts` under `pointer` (RFC 6901)."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return pointer + "".join(f"/{part}" for part in escaped)


def invalid(reason: str, pointer: str, **params: str | int) -> Refused:
    """Return the refusal of one wrong input value at `pointer`."""
    return Refused(reason, "invalid", (Problem(pointer, reason, params),), params)


def missing(reason: str) -> Refused:
    """Return the refusal for an unknown or foreign id."""
    return Refused(reason, "missing")
