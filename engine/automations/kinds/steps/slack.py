"""Write into a channel (decision A13): the incoming webhook of Slack, whose address is a secret."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy.orm import Session

from engine.accounts.service.secrets import ADDRESS
from engine.automations.calling import (
    NO_SECRET,
    CallConfig,
    CallFacts,
    CallingStep,
    Outgoing,
    opened,
)
from engine.automations.kinds.steps.base import Failed, Visit, event_values
from engine.core import http
from engine.core.outcome import Problem
from engine.delivery.compose.render import MailData
from engine.delivery.service import wording

BROKEN: Final = Failed("TEXT_BROKEN", "The text cannot be made")
# Longer ones are cut off by Slack itself.
LONGEST: Final = 40_000


class SlackConfig(CallConfig):
    """secret_id: of the secret that is the address; text: Liquid."""

    text: Annotated[str, Field(max_length=wording.LONGEST)] | None = None


class SlackStep(CallingStep[SlackConfig]):
    """The message to a channel."""

    Config = SlackConfig
    secret_kind = ADDRESS

    def structure(self, config: SlackConfig, pointer: str) -> list[Problem]:
        """Refuse a text that is no Liquid."""
        if config.text is None:
            return []
        problem = wording.check_text(config.text, f"{pointer}/config/text")
        return [] if problem is None else [problem]

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
        return found + self.missing(session, workspace_id, configs)

    def outgoing(
        self, visit: Visit[SlackConfig], facts: CallFacts | None, at: datetime
    ) -> Outgoing | Failed:
        """Return the call that writes the text, or what forbids it."""
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


def message(visit: Visit[SlackConfig], data: MailData, at: datetime) -> str | None:
    """Return the text that would be written; None where it does not work."""
    context = {"event": event_values(visit.trigger)}
    known = MailData(data.contact, data.properties, data.workspace, context)
    text = wording.render_text(visit.config.text or "", known, at)
    return None if text is None else text[:LONGEST]
