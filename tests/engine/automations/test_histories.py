"""Any history of hints, crashes, clocks and people: no run lost, nothing twice, the books right."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from engine.automations import service
from engine.automations.kinds.steps import STEPS
from engine.core import faults
from engine.core.clock import FixedClock
from engine.house import House
from tests.engine.automations.history import Installation
from tests.engine.automations.plans import MOODS
from tests.engine.automations.reckoning import assert_sound, finish
from tests.fakes.dispatch import RecordingDispatch
from tests.support.figures import Figures

EXAMPLES: Final = 40
STEPS_EACH: Final = 30
PLACES: Final = st.integers(0, 30)
# What is named more than once happens more often.
_WORK: Final = (
    *("post", "hint", "hint", "hint twice", "claim", "claim", "settle", "settle", "lose hints"),
    *("steps", "steps", "sends", "sends", "outbox", "time", "time", "time", "time"),
)
# An hour forth and an hour back, as clocks are set (both happen).
TIMES: Final = (1, 5, 30, 61, 121, 600, 3600, -3600)
SERVER: Final = ("later", "never", "silent", "slow")
WISHES: Final[Mapping[str, service.Wish]] = {
    "pause": service.Wish("paused"),
    "stop": service.Wish("paused", cancel_inside=True),
    "resume": service.Wish("active"),
    "resume: shift": service.Wish("active", resume="shift"),
    "resume: overdue": service.Wish("active", resume="overdue"),
    "resume: skip": service.Wish("active", resume="skip"),
    "start afresh": service.Wish("active", start_afresh=True),
}
_PERSONS: Final = (
    *WISHES,
    *("pause", "resume: shift", "resume: overdue", "resume: skip"),
    *("rename", "rename", "opt out", "delete person", "remove", "publish", "publish and move"),
    *("publish", "publish and move"),
)
# What changes no row leaves nothing to check.
QUIET: Final = frozenset({*MOODS, *SERVER, "time", "lose hints"})
# Passed once or twice in one act.
ONCE: Final = frozenset(
    {"tick.claimed", "hints.before", "hints.given", "walk.settled", "http.asking", "http.answered"}
)
ACTS: Final = (*_WORK, *_WORK, *_PERSONS, *MOODS, *SERVER, *["crash"] * 14)


@pytest.fixture
def installation(
    house: House, clock: FixedClock, dispatch: RecordingDispatch, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    """Return an installation in which a step kind `odd` is known."""
    made = Installation(house, clock, dispatch)
    made.odd.hang = made.hang
    monkeypatch.setitem(STEPS._kinds, "odd", made.odd)
    return made


class History(RuleBasedStateMachine):
    """One history of one installation; `house` is set by the test.

    One rule with many ways, not many rules: a history then mixes them by the weights above.
    """

    house: Installation
    acts: Counter[str]

    @initialize()
    def begin(self) -> None:
        self.house.begin()
        for person in range(3):
            self.house.post(person)

    def teardown(self) -> None:
        """End the history and take stock."""
        finish(self.house)

    @rule(what=st.sampled_from(ACTS), which=PLACES, nth=st.integers(1, 2))
    def happen(self, what: str, which: int, nth: int) -> None:
        """Let one thing happen: in a worker, in the queue, to a clock, by a person."""
        house = self.house
        acts: dict[str, Callable[[], object]] = {
            **{mood: lambda: house.odd.moods.append(what) for mood in MOODS},
            **{how: lambda: house.refuse(what) for how in SERVER},
            "post": lambda: house.post(which % 3),
            "hint": lambda: house.deliver(which, which % 2),
            "hint twice": lambda: house.deliver(which, which % 2, kept=True),
            "lose hints": house.lose,
            "claim": lambda: house.claim(which % 2),
            "settle": lambda: house.finish_claimed(which),
            "steps": lambda: house.sweep("steps"),
            "sends": lambda: house.sweep("sends"),
            "outbox": lambda: house.sweep("outbox"),
            "time": lambda: house.clock.advance(timedelta(seconds=TIMES[which % len(TIMES)])),
            "crash": lambda: self._crash(nth, which),
        }
        self.acts[what] += 1
        house.survive(acts.get(what, lambda: self._intervene(what, which)))
        if what not in QUIET:
            assert_sound(house)

    def _crash(self, nth: int, which: int) -> None:
        """Let a worker vanish where the fewest did so far, in something likely to come by it."""
        house = self.house
        name = min(faults.POINTS, key=lambda point: (house.sprung[point], house.tried[point]))
        house.tried[name] += 1
        if name in ONCE:
            nth = 1
        for person in range(3):
            house.post(person)
        act: Callable[[], object] = lambda: house.sweep("steps")  # noqa: E731 - one of a few
        if name.startswith("send"):
            house.transport.before.clear()
            house.survive(act)
            act = lambda: house.sweep("sends")  # noqa: E731
        elif name.startswith("http"):
            self._intervene(("pause", "resume")[which % 2], which)
            act = lambda: house.sweep("outbox")  # noqa: E731
        elif which % 3 == 0 and not name.startswith(("tick", "walk")):
            act = lambda: self._intervene("pause", which)  # noqa: E731
        elif which % 3 == 1 and name != "tick.claimed":
            act = lambda: house.deliver(which, which % 2)  # noqa: E731
        house.crash(name, nth, act)

    def _intervene(self, what: str, which: int) -> None:
        name, person = sorted(self.house.automations)[which % 4], which % 3
        wish = WISHES.get(what)
        if wish is not None:
            self.house.move(name, wish)
        elif what.startswith("publish"):
            self.house.publish(name, "move" if what.endswith("move") else "stay", which)
        elif what == "rename":
            self.house.rename(person, "Ada" if which % 2 else "Bob")
        elif what == "opt out":
            self.house.opt_out(person)
        elif what == "delete person":
            self.house.delete_person(person)
        else:
            self.house.remove(name)


@pytest.mark.timeout(900)
def test_any_history_loses_nobody_and_doubles_nothing(
    installation: Installation, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(History, "house", installation, raising=False)
    monkeypatch.setattr(History, "acts", Counter(), raising=False)
    # Shrinking a history takes longer than reading it.
    few = settings(max_examples=EXAMPLES, stateful_step_count=STEPS_EACH, phases=[Phase.generate])
    run_state_machine_as_test(History, settings=few)
    figures.append("histories: " + ", ".join(f"{k} {n}" for k, n in History.acts.most_common()))
    figures.extend(
        f"fault point {name}: crashed at {installation.sprung[name]} times, passed "
        f"{installation.passed[name]} times"
        for name in faults.POINTS
    )
    assert [name for name in faults.POINTS if not installation.sprung[name]] == []


@pytest.mark.parametrize("nth", [1, 3])
@pytest.mark.parametrize("name", faults.POINTS)
def test_a_crash_at_each_point_is_made_good(
    installation: Installation, name: str, nth: int
) -> None:
    installation.begin()

    def everything() -> None:
        for person in range(3):
            installation.post(person)
        for _ in range(4):
            installation.sweep("steps")
            installation.sweep("sends")
            installation.sweep("outbox")
            for status in ("paused", "active"):
                installation.move("odd", service.Wish(status))
            installation.clock.advance(timedelta(seconds=61))

    installation.crash(name, nth, everything)
    assert installation.sprung[name] == 1
    finish(installation)
