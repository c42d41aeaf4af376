"""Branch on a condition about the person (facts 1.11, section 2)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy.orm import Session

from engine.automations.families import References
from engine.automations.kinds.steps.base import (
    Completed,
    Failed,
    Outcome,
    StepConfig,
    StepKind,
    Visit,
)
from engine.core.outcome import Problem
from engine.rules import service as rules
from engine.rules.kinds import CONDITIONS
from engine.rules.service import Condition, Evaluation


class ConditionConfig(StepConfig):
    """condition: the document of one condition; yes, no: a step key, `end`, or None (next)."""

    condition: dict[str, Any] | None = None
    yes: str | None = None
    no: str | None = None

    @cached_property
    def compiled(self) -> Condition:
        """Return the condition as it is evaluated; read once for all people of a revision."""
        read = rules.read_condition(self.condition, "")
        if isinstance(read, list):
            raise ValueError(f"condition step: {read[0].code}")
        return read


class ConditionStep(StepKind[ConditionConfig, Evaluation]):
    """The condition step."""

    Config = ConditionConfig

    def branches(self, config: ConditionConfig) -> Mapping[str, str | None]:
        """Return both exits."""
        return {"yes": config.yes, "no": config.no}

    def structure(self, config: ConditionConfig, pointer: str) -> list[Problem]:
        """Refuse a condition that does not read."""
        if config.condition is None:
            return []
        read = rules.read_condition(config.condition, f"{pointer}/config/condition")
        return read if isinstance(read, list) else []

    def references(self, config: ConditionConfig) -> References:
        """Return the topic or property that the rule is about, at the rule's key that names it."""
        if config.condition is None:
            return {}
        rule = config.compiled.config
        found = {}
        for each in CONDITIONS.get(config.compiled.kind).references(rule):
            # What a rule is about stands before the value that it compares with.
            keys = type(rule).model_fields
            key = next(key for key in keys if getattr(rule, key) == each.name)
            found[f"condition/{key}"] = (each.family, each.name)
        return found

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, ConditionConfig]
    ) -> list[Problem]:
        """Refuse a missing condition and one about a topic or property that is gone."""
        found = [
            Problem(f"{pointer}/config/condition", "condition_missing")
            for pointer, config in configs.items()
            if config.condition is None
        ]
        read = {p: config.compiled for p, config in configs.items() if config.condition is not None}
        pointers = list(read)
        for gone in rules.missing_references(session, workspace_id, list(read.values())):
            if (
                gone.family == rules.TOPIC
            ):  # a property that is gone reads as missing: a legal answer
                where = f"{pointers[gone.index]}/config/condition"
                found.append(Problem(where, "topic_not_found", {"name": gone.name}))
        return found

    def load(
        self, session: Session, visits: Sequence[Visit[ConditionConfig]]
    ) -> Mapping[int, Evaluation | None]:
        """Evaluate each distinct condition once, for all its people together."""
        groups: dict[tuple[int, Condition], list[Visit[ConditionConfig]]] = defaultdict(list)
        for visit in visits:
            groups[visit.workspace_id, visit.config.compiled].append(visit)
        facts: dict[int, Evaluation | None] = {}
        for (workspace_id, condition), members in groups.items():
            people = [visit.contact_id for visit in members]
            found = rules.evaluate(session, workspace_id, condition, people)
            facts.update({visit.id: found.get(visit.contact_id) for visit in members})
        return facts

    def run(
        self,
        visits: Sequence[Visit[ConditionConfig]],
        facts: Mapping[int, Evaluation | None],
    ) -> Mapping[int, Outcome]:
        """Take the yes exit where the condition holds, else the no exit."""
        return {visit.id: _decide(visit.config, facts.get(visit.id)) for visit in visits}


def _decide(config: ConditionConfig, evaluation: Evaluation | None) -> Outcome:
    if evaluation is None:
        return Failed("CONTACT_NOT_FOUND", "Automation run or contact not found")
    branch = "yes" if evaluation.matched else "no"
    return Completed(
        branch=branch,
        result={"condition": config.condition, "found": evaluation.found, "branch": branch},
    )
