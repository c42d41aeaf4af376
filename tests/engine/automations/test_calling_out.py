"""Many calls of one batch: some at a time, and none is begun behind the budget."""

from threading import Barrier
from typing import Any

import pytest

from engine.automations.calling import AT_A_TIME, CRASHED, Outgoing, call_all
from engine.automations.kinds.steps.base import Completed, Deferred
from engine.core import http
from engine.core.clock import FixedClock
from engine.core.http import Answered, Call, installed


class Together:
    """Stands in for the client: answers when as many calls are under way as may be."""

    def __init__(self) -> None:
        self.barrier = Barrier(AT_A_TIME)
        self.asked = 0

    def send(self, _call: Call) -> Answered:
        """Wait for the others."""
        self.barrier.wait(10)
        self.asked += 1
        return Answered(200, {}, b"")


def calls(number: int) -> dict[int, Outgoing]:
    return {n: Outgoing(Call("POST", f"http://shop.example/{n}"), (n,)) for n in range(number)}


def test_calls_go_out_some_at_a_time_and_each_has_its_own_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client: Any = Together()
    monkeypatch.setattr(installed, "_client", client)
    found = call_all(calls(AT_A_TIME * 2))
    assert list(found) == list(range(AT_A_TIME * 2))
    assert [each.used for each in found.values() if isinstance(each, Completed)] == [
        (n,) for n in range(AT_A_TIME * 2)
    ]


def test_a_call_that_crashes_has_no_other_one_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def send(call: Call) -> Answered:
        asked.append(call.url)
        if call.url.endswith("/1"):
            raise LookupError("broken")
        return Answered(200, {}, b"")

    client = http.Client()
    monkeypatch.setattr(client, "send", send)
    monkeypatch.setattr(installed, "_client", client)
    found = call_all(calls(3))
    assert [isinstance(found[n], Completed) for n in range(3)] == [True, False, True]
    assert found[1] == CRASHED
    assert len(asked) == 3


def test_behind_the_budget_no_call_is_begun_and_the_rest_is_due_again(
    clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(_call: Call) -> Answered:
        raise AssertionError("called")

    client = http.Client()
    monkeypatch.setattr(client, "send", send)
    monkeypatch.setattr(installed, "_client", client)
    assert call_all(calls(3), budget=0) == {n: Deferred(clock.now()) for n in range(3)}
    assert call_all({}) == {}
