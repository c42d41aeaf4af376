"""A step kind that does what a test says and notes whom it ran for."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engine.automations.kinds.steps import STEPS
from engine.automations.kinds.steps.base import Outcome, StepKind, Visit
from engine.automations.kinds.steps.delay import DelayStep


class Scripted(StepKind[Any, Any]):
    """A step whose outcomes a test decides; the last one stays. ran: a visit id an execution."""

    Config = DelayStep.Config

    def __init__(self, *outcomes: Outcome | BaseException) -> None:
        self.outcomes = list(outcomes)
        self.ran: list[int] = []
        self._lock = threading.Lock()

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Mapping[int, Outcome]:
        """Note the visits and answer, or raise, what comes next."""
        with self._lock:
            self.ran += [visit.id for visit in visits]
            outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return {visit.id: outcome for visit in visits}


def script(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome | BaseException) -> Scripted:
    """Put a scripted kind in the place of `end`: it takes no configuration and ends nothing."""
    kind = Scripted(*outcomes)
    monkeypatch.setitem(STEPS._kinds, "end", kind)
    return kind
