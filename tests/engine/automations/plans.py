"""The automations of a history, their edited versions, and a step that does odd things."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from engine.automations.kinds.steps.base import Completed, Failed, StepConfig, StepKind, Visit
from engine.core.faults import Crash
from tests.factories import automations as make

# What the odd step may do instead of its work.
MOODS: Final = ("raise", "fail", "nonsense", "silent", "hang", "die")


class OddConfig(StepConfig):
    """Nothing to say."""


class OddStep(StepKind[OddConfig, None]):
    """A step that does what the history told it, once each."""

    Config = OddConfig

    def __init__(self) -> None:
        self.moods: list[str] = []
        self.hang: Callable[[], None] = lambda: None

    def run(self, visits: Sequence[Visit[Any]], facts: Any) -> Any:
        """Complete, or do the next odd thing."""
        mood = self.moods.pop(0) if self.moods else ""
        if mood == "raise":
            raise ValueError("odd")
        if mood == "die":
            raise Crash("step")
        if mood == "hang":
            self.hang()
        answers = {"fail": Failed("ODD", "odd"), "nonsense": "nonsense"}
        if mood == "silent":
            return {}
        return {visit.id: answers.get(mood, Completed()) for visit in visits}


def documents(template: str, topic: str) -> dict[str, dict[str, Any]]:
    """Return the automations: mails and waits, a way back, an odd step, one that holds."""
    mail, wait, change = make.email, make.delay, "update_contact"
    odd = {"key": "odd", "type": "odd", "config": {}}
    rename = {"key": "name", "type": change, "config": {"changes": {"last_name": "Known"}}}
    join = {"key": "join", "type": "topic", "config": {"topic_id": topic, "action": "subscribe"}}
    calm = {"key": "calm", "type": change, "config": {"changes": {"first_name": "Calm"}}}
    plans = {
        "mails": make.document(
            mail("one", template), wait("w1", 0.5, "minutes"), mail("two", template), rename,
            wait("w2", 10, "minutes"), mail("three", template),
        ),
        "loop": make.document(
            wait("pause", 1, "minutes"), mail("again", template),
            make.branch("ask", yes="calm", no="out"), calm,
            make.branch("back", yes=None, no="pause"), make.end("out"),
        ),
        "odd": make.document(odd, mail("after", template)),
        "held": make.document(
            join, wait("w1", 5, "minutes"), mail("one", template), wait("w2", 5, "minutes"),
            mail("two", template), on_pause="hold",
        ),
    }  # fmt: skip
    return {name: {**raw, "name": name} for name, raw in plans.items()}


def edited(plan: Mapping[str, Any], which: int) -> dict[str, Any]:
    """Return a plan with other waits; in one of two also another order: a step first, one gone."""
    steps: list[dict[str, Any]] = [
        make.delay(step["key"], 1 + which, "minutes") if step["type"] == "delay" else step
        for step in plan["steps"]
    ]
    targets = {
        target for step in steps for target in (step["config"].get("yes"), step["config"].get("no"))
    }
    gone = [step for step in steps if step["type"] == "email" and step["key"] not in targets]
    if which % 2 and len(gone) > 1:
        steps.remove(gone[0])
        steps.insert(0, make.delay("new", 0.1 * which, "minutes"))
    return {**plan, "steps": steps}
