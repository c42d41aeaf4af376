"""The step `condition` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.steps.condition import ConditionConfig
from web.automations.kinds import conditions
from web.automations.kinds.steps.base import Evidence, Named, StepWords


class ConditionWords(StepWords[ConditionConfig]):
    """A branch."""

    shape = "points"

    def title(self, step: Named[ConditionConfig]) -> str:
        """Return the rule as a question."""
        if step.config.condition is None:
            return str(_("Branch without a rule"))
        return str(_("%(rule)s?", rule=conditions.rule(step.config.condition, step.topics)))

    def note(self, step: Named[ConditionConfig]) -> str:
        """Return what the question leaves open."""
        return conditions.note(step.config.condition)

    def way_out(self, branch: str) -> str:
        """Return yes or no."""
        return str(_("yes") if branch == "yes" else _("no"))

    def done(self, step: Named[ConditionConfig], result: Mapping[str, Any]) -> str:
        """Return the question and its answer."""
        return f"{self.title(step)} → {self.way_out(str(result.get('branch', '')))}"

    def evidence(self, step: Named[ConditionConfig], result: Mapping[str, Any]) -> Evidence | None:
        """Return rule, value and way as they were when the step was executed."""
        if "branch" not in result:
            return None
        condition, value = result.get("condition"), result.get("found")
        return Evidence(
            conditions.rule(condition, step.topics),
            conditions.found(condition, None if value is None else str(value)),
            self.way_out(str(result["branch"])),
        )

    def topics(self, config: ConditionConfig) -> frozenset[str]:
        """Return the topics that the rule names."""
        return conditions.topics(config.condition)
