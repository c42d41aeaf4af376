"""The step `random_split` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.foresight.random_split import OWN
from engine.automations.kinds.steps.random_split import WAYS, RandomSplitConfig
from web.automations.kinds.steps.base import Evidence, Named, StepWords


class RandomSplitWords(StepWords[RandomSplitConfig]):
    """A split by chance."""

    shape = "points"

    def title(self, step: Named[RandomSplitConfig]) -> str:
        """Return, for example, “Random split 50 / 50”."""
        shares = [str(step.config.shares[way]) for way in WAYS if way in step.config.shares]
        return str(_("Random split %(shares)s", shares=" / ".join(shares)))

    def note(self, step: Named[RandomSplitConfig]) -> str:  # noqa: ARG002 - a contract
        """Say that it is no dice."""
        return str(_("A person takes the same way every time."))

    def way_out(self, branch: str) -> str:
        """Return the letter of the way; in a simulation also the one that chance has for them."""
        return str(_("by chance")) if branch == OWN else branch.upper()

    def done(self, step: Named[RandomSplitConfig], result: Mapping[str, Any]) -> str:
        """Return the split and the way taken."""
        return f"{self.title(step)} → {self.way_out(str(result.get('branch', '')))}"

    def evidence(
        self, step: Named[RandomSplitConfig], result: Mapping[str, Any]
    ) -> Evidence | None:
        """Return the way and how many take it."""
        if "branch" not in result:
            return None
        name = self.way_out(str(result["branch"]))
        found = str(_("%(share)s %% take this way", share=result.get("share", "?")))
        return Evidence(self.title(step), found, name)
