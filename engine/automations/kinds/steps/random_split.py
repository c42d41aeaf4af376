"""Send people several ways by chance, in given shares (decision A13).

The chance is a hash of public ids: the same person takes the same way at every visit, and two
splits do not take the same half.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy.orm import Session

from engine.automations.kinds.steps.base import Completed, Outcome, StepConfig, StepKind, Visit
from engine.core.outcome import Problem

WAYS: Final = ("a", "b", "c", "d", "e")
FEWEST: Final = 2
# How fine the shares are told apart: hundredths of a percent.
_POINTS: Final = 10_000
_WHOLE: Final = 100

Name = Annotated[str, Field(pattern="^[a-e]$")]
Share = Annotated[int, Field(ge=1, le=99)]


class RandomSplitConfig(StepConfig):
    """shares: percent by way, two to five of them; a to e: a step key, `end`, or None (next)."""

    shares: dict[Name, Share] = Field(default_factory=lambda: {"a": 50, "b": 50})
    a: str | None = None
    b: str | None = None
    c: str | None = None
    d: str | None = None
    e: str | None = None


class RandomSplitStep(StepKind[RandomSplitConfig, None]):
    """The random split."""

    Config = RandomSplitConfig

    def branches(self, config: RandomSplitConfig) -> Mapping[str, str | None]:
        """Return an exit for each share."""
        return {name: getattr(config, name) for name in WAYS if name in config.shares}

    def structure(self, config: RandomSplitConfig, pointer: str) -> list[Problem]:
        """Refuse fewer than two ways."""
        few = len(config.shares) < FEWEST
        return [Problem(f"{pointer}/config/shares", "too_few_ways")] if few else []

    def problems(
        self,
        session: Session,  # noqa: ARG002 - a contract
        workspace_id: int,  # noqa: ARG002
        configs: Mapping[str, RandomSplitConfig],
    ) -> list[Problem]:
        """Refuse shares that do not make a whole."""
        totals = {pointer: sum(config.shares.values()) for pointer, config in configs.items()}
        return [
            Problem(f"{pointer}/config/shares", "shares_not_whole", {"total": total})
            for pointer, total in totals.items()
            if total != _WHOLE
        ]

    def run(
        self,
        visits: Sequence[Visit[RandomSplitConfig]],
        facts: Mapping[int, None],  # noqa: ARG002 - a contract
    ) -> Mapping[int, Outcome]:
        """Send everybody the way that their number falls to."""
        return {visit.id: _decide(visit) for visit in visits}


def way(config: RandomSplitConfig, automation: str, step: str, person: str) -> str:
    """Return the way of a person; automation, person: public ids, step: its key."""
    text = f"{automation}:{step}:{person}".encode()
    point = int.from_bytes(hashlib.sha256(text).digest()[:8]) % _POINTS
    names = [name for name in WAYS if name in config.shares]
    upto = 0
    for name in names:
        upto += config.shares[name] * (_POINTS // _WHOLE)
        if point < upto:
            return name
    return names[-1]


def _decide(visit: Visit[RandomSplitConfig]) -> Outcome:
    branch = way(visit.config, visit.automation, visit.step, visit.person)
    share = visit.config.shares[branch]
    return Completed(branch=branch, result={"branch": branch, "share": share})
