"""Write into a channel (decision A13): the incoming webhook of Slack, whose address is a secret."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy.orm import Session

from engine.accounts.service.secrets import ADDRESS
from engine.automations.calling import (
    NO_SECRET,
    CallFacts,
    Outgoing,
    call_all,
    load_calls,
    missing_secrets,
    opened,
    secret_names,
    trigger_values,
)
from engine.automations.families import SECRET, References
from engine.automations.kinds.steps.base import Failed, Outcome, StepConfig, StepKind, Visit
from engine.core import clock, http
from engine.core.outcome import Problem
from engine.delivery.compose.render import MailData
from engine.delivery.service import wording

BROKEN: Final = Failed("TEXT_BROKEN", "The text cannot be made")
# Longer ones are cut off by Slack itself.
LONGEST: Final = 40_000


class SlackConfig(StepConfig):
    """secret_id: public id of the secret that is the address; text: Liquid."""

    secret_id: str | None = None
    text: Annotated[str, Field(max_length=wording.LONGEST)] | None = None


class SlackStep(StepKind[SlackConfig, CallFacts]):
    """The message to a channel."""

    Config = SlackConfig
    network = True

    def structure(self, config: SlackConfig, pointer: str) -> list[Problem]:
        """Refuse a text that is no Liquid."""
        if config.text is None:
            return []
        problem = wording.check_text(config.text, f"{pointer}/config/text")
        return [] if problem is None else [problem]

    def references(self, config: SlackConfig) -> References:
        """Return the secret."""
        return {"secret_id": (SECRET, config.secret_id)} if config.secret_id else {}

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, SlackConfig]
    ) -> list[Problem]:
        """Refuse a message without text or channel, and one whose address is gone."""
        found = []
        for pointer, config in configs.items():
            if not config.secret_id:
                found.append(Problem(f"{pointer}/config/secret_id", "channel_missing"))
            if not (config.text or "").strip():
                found.append(Problem(f"{pointer}/config/text", "text_missing"))
        named = {p: config.secret_id for p, config in configs.items() if config.secret_id}
        return found + missing_secrets(session, workspace_id, named, ADDRESS)

    def load(
        self, session: Session, visits: Sequence[Visit[SlackConfig]]
    ) -> Mapping[int, CallFacts | None]:
        """Load people and addresses of the whole batch in four statements."""
        return load_calls(session, visits, lambda config: config.secret_id)

    def run(
        self, visits: Sequence[Visit[SlackConfig]], facts: Mapping[int, CallFacts | None]
    ) -> Mapping[int, Outcome]:
        """Make the calls; the time of the batch is bounded, the rest comes with the next one."""
        at = clock.now()
        made = {visit.id: _prepare(visit, facts.get(visit.id), at) for visit in visits}
        ready = {key: each for key, each in made.items() if isinstance(each, Outgoing)}
        refused = {key: each for key, each in made.items() if isinstance(each, Failed)}
        return {**refused, **call_all(ready)}

    def enrich(
        self, session: Session, workspace_id: int, configs: Mapping[str, SlackConfig]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the name of each secret, in one statement."""
        named = {key: config.secret_id for key, config in configs.items() if config.secret_id}
        return secret_names(session, workspace_id, named)


def message(visit: Visit[SlackConfig], data: MailData, at: datetime) -> str | None:
    """Return the text that would be written; None where it does not work."""
    context = {"event": trigger_values(visit.trigger)}
    known = MailData(data.contact, data.properties, data.workspace, context)
    text = wording.render_text(visit.config.text or "", known, at)
    return None if text is None else text[:LONGEST]


def _prepare(visit: Visit[SlackConfig], facts: CallFacts | None, at: datetime) -> Outgoing | Failed:
    if facts is None or facts.data is None:
        return Failed("CONTACT_NOT_FOUND", "Automation run or contact not found")
    address = opened(facts.secret, ADDRESS)
    if isinstance(address, Failed) or facts.secret is None:
        return address if isinstance(address, Failed) else NO_SECRET
    text = message(visit, facts.data, at)
    if text is None:
        return BROKEN
    body = json.dumps({"text": text}).encode()
    headers = {"Content-Type": "application/json"}
    # Slack's addresses never lead elsewhere; where one does, the secret stays here.
    call = http.Call("POST", address, headers, body)
    return Outgoing(call, (facts.secret.row_id,), quiet=True)
