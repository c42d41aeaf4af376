"""The step `end` in words."""

from flask_babel import gettext as _

from engine.automations.kinds.steps.end import EndConfig
from web.automations.kinds.steps.base import Named, StepWords


class EndWords(StepWords[EndConfig]):
    """A buffer stop in the middle of the plan."""

    shape = "end"

    def title(self, step: Named[EndConfig]) -> str:  # noqa: ARG002 - a contract
        """Say that the line ends here."""
        return str(_("Ends here"))
