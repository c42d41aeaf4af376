"""The step `email` in words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import gettext as _

from engine.automations.kinds.steps.email import EmailConfig
from web.automations.kinds.steps.base import Named, StepWords


class EmailWords(StepWords[EmailConfig]):
    """A mail from a template."""

    def title(self, step: Named[EmailConfig]) -> str:
        """Return, for example, “Mail “Welcome””."""
        name = step.names.get("template_name")
        if name is None:
            return str(_("Mail without a template"))
        return str(_("Mail “%(name)s”", name=name))

    def note(self, step: Named[EmailConfig]) -> str:
        """Return the subject where it replaces the template's, or that the template is gone."""
        if step.config.subject_override is not None:
            return str(_("Subject: %(subject)s", subject=step.config.subject_override))
        if step.config.template_id and "template_name" not in step.names:
            return str(_("The template was deleted."))
        return ""

    def done(self, step: Named[EmailConfig], result: Mapping[str, Any]) -> str:
        """Say that it was queued, or that nothing was sent."""
        if result.get("reason"):
            return str(_("%(mail)s not sent", mail=self.title(step)))
        return str(_("%(mail)s queued", mail=self.title(step)))

    def foreseen(self, step: Named[EmailConfig], result: Mapping[str, Any]) -> str:
        """Say that it would be sent, or that nothing would."""
        if result.get("reason"):
            return str(_("%(mail)s would not be sent", mail=self.title(step)))
        return str(_("%(mail)s would be sent", mail=self.title(step)))
