"""Queue a mail from a template. Completed means queued, not delivered (facts 1.11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations.families import TEMPLATE, References
from engine.automations.kinds.steps.base import (
    Completed,
    Failed,
    Outcome,
    StepConfig,
    StepKind,
    Visit,
    event_values,
)
from engine.core.outcome import Problem
from engine.delivery import queries as delivery
from engine.delivery import service as mail
from engine.delivery.models import KIND_AUTOMATION, POOL_TRANSACTIONAL
from engine.delivery.queries import SenderFacts, TemplateFacts
from engine.delivery.service import SendRequest

NO_TEMPLATE: Final = Failed("NO_TEMPLATE", "No email template configured")
TEMPLATE_GONE: Final = Failed("TEMPLATE_NOT_FOUND", "Email template not found")
NO_HTML: Final = Failed("TEMPLATE_EMPTY", "Email template has no HTML content")
NO_SENDER: Final = Failed(
    "NO_SENDER",
    "Email sender not configured. Please set a default sender email in organization settings.",
)
# Each run of somebody without an address feeds the breaker; so many could trip it (decision A12).
MANY: Final = 5
# The newest contacts are looked at: they resemble those who will enter.
LOOKED_AT: Final = 1_000
NO_ADDRESS: Final = Failed("NO_ADDRESS", "Contact has no email address")


class EmailConfig(StepConfig):
    """template_id: the template's public id; subject_override: Liquid, replaces its subject."""

    template_id: str | None = None
    subject_override: Annotated[str, Field(max_length=500)] | None = None


@dataclass(frozen=True)
class EmailFacts:
    """What one mail needs: its template, the workspace's default sender, the person's address."""

    template: TemplateFacts | None
    sender: SenderFacts | None
    address: str | None


class EmailStep(StepKind[EmailConfig, EmailFacts]):
    """The email step."""

    Config = EmailConfig
    sends = True

    def structure(self, config: EmailConfig, pointer: str) -> list[Problem]:
        """Refuse a subject that is no Liquid."""
        if config.subject_override is None:
            return []
        refused = mail.check_subject(config.subject_override, f"{pointer}/config/subject_override")
        return [] if refused is None else list(refused.problems)

    def references(self, config: EmailConfig) -> References:
        """Return the template."""
        return {"template_id": (TEMPLATE, config.template_id)} if config.template_id else {}

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, EmailConfig]
    ) -> list[Problem]:
        """Refuse a step without template, or whose template is gone; and a missing sender."""
        names = self.enrich(session, workspace_id, configs)
        found = [
            Problem(
                f"{pointer}/config/template_id",
                "template_not_found" if config.template_id else "template_missing",
            )
            for pointer, config in configs.items()
            if pointer not in names
        ]
        if configs and delivery.default_sender(session, workspace_id) is None:
            found.append(Problem("", "no_sender"))
        return found

    def warnings(
        self, session: Session, workspace_id: int, configs: Mapping[str, EmailConfig]
    ) -> list[Problem]:
        """Warn of marketing mail without a way out, and of many people without an address."""
        wanted = {config.template_id for config in configs.values() if config.template_id}
        closed = delivery.without_way_out(session, workspace_id, wanted)
        found = [
            Problem(f"{pointer}/config/template_id", "no_unsubscribe_url")
            for pointer, config in configs.items()
            if config.template_id in closed
        ]
        lacking = audience.without_address(session, workspace_id, LOOKED_AT)
        if lacking >= MANY:
            params = {"count": lacking, "of": LOOKED_AT}
            found.append(Problem("", "many_without_address", params))
        return found

    def load(
        self, session: Session, visits: Sequence[Visit[EmailConfig]]
    ) -> Mapping[int, EmailFacts | None]:
        """Load templates, senders and addresses of the whole batch in three statements."""
        keys = {
            (visit.workspace_id, visit.config.template_id)
            for visit in visits
            if visit.config.template_id
        }
        found = delivery.mail_facts(session, keys)
        addresses = audience.addresses(session, [visit.contact_id for visit in visits])
        return {
            visit.id: EmailFacts(
                found.templates.get((visit.workspace_id, visit.config.template_id or "")),
                found.senders.get(visit.workspace_id),
                addresses.get(visit.contact_id),
            )
            for visit in visits
        }

    def run(
        self, visits: Sequence[Visit[EmailConfig]], facts: Mapping[int, EmailFacts | None]
    ) -> Mapping[int, Outcome]:
        """Answer with one send request per person, or the first thing that forbids it."""
        return {visit.id: _request(visit, facts.get(visit.id)) for visit in visits}

    def enrich(
        self, session: Session, workspace_id: int, configs: Mapping[str, EmailConfig]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the template's name beside each step, in one statement."""
        wanted = {config.template_id for config in configs.values() if config.template_id}
        names = delivery.template_names(session, workspace_id, wanted)
        return {
            key: {"template_name": names[config.template_id]}
            for key, config in configs.items()
            if config.template_id in names
        }


def _request(visit: Visit[EmailConfig], facts: EmailFacts | None) -> Outcome:
    if visit.config.template_id is None:
        return NO_TEMPLATE
    if facts is None or facts.template is None:
        return TEMPLATE_GONE
    if not facts.template.has_html:
        return NO_HTML
    if facts.sender is None:
        return NO_SENDER
    if facts.address is None:
        return NO_ADDRESS
    return Completed(
        send=SendRequest(
            workspace_id=visit.workspace_id,
            kind=KIND_AUTOMATION,
            pool=POOL_TRANSACTIONAL,
            contact_id=visit.contact_id,
            template_id=facts.template.row_id,
            subject_override=visit.config.subject_override,
            context={"event": event_values(visit.trigger)},
            to_email=facts.address,
            from_email=facts.sender.email,
            from_name=facts.sender.name,
            reply_to=facts.sender.reply_to,
            dedupe_key=visit.key,
            purpose=facts.template.purpose,
            allow_repeat=facts.template.allow_repeat,
        )
    )
