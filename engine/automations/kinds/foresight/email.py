"""Which mail somebody would get: rendered, never queued."""

from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.base import Completed, Failed
from engine.automations.kinds.steps.email import EmailConfig, EmailFacts, EmailStep
from engine.delivery import queries as delivery
from engine.delivery import service as mail

_KIND = EmailStep()


class EmailForesight(Foresight[EmailConfig]):
    """The mail, or why there would be none."""

    def foresee(self, scene: Scene, config: EmailConfig) -> Foreseen:
        """Ask the kind for its mail and render it for the person as they are by then."""
        key = (scene.workspace_id, config.template_id or "")
        found = scene.kept.once(key, lambda: delivery.mail_facts(scene.session, {key}))
        facts = EmailFacts(
            found.templates.get(key), found.senders.get(scene.workspace_id), scene.who.address
        )
        outcome = _KIND.run([scene.visit(config)], {0: facts})[0]
        if isinstance(outcome, Failed):
            return Foreseen(failed=outcome)
        if not isinstance(outcome, Completed) or outcome.send is None:
            raise ValueError("an email step completes with a mail")
        shown = mail.preview_mail(
            scene.session, outcome.send, scene.who.reader, scene.at, scene.links, scene.kept
        )
        return Foreseen(mail=shown, reason=shown.withheld)
