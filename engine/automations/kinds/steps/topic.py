"""Put the person into a topic or take them out of it (decision A13, facts 3.4, 3.5).

Where the topic asks for double opt-in the person is put in pending, as by every other door; the
result says so. The row is written where the step is settled (`applying`).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from sqlalchemy.orm import Session

from engine.audience import queries as audience
from engine.automations.families import TOPIC, References
from engine.automations.kinds.steps.base import (
    Completed,
    Failed,
    Outcome,
    StepConfig,
    StepKind,
    TopicChange,
    Visit,
)
from engine.core.outcome import Problem


class TopicConfig(StepConfig):
    """topic_id: the topic's public id; action: which way."""

    topic_id: str | None = None
    action: Literal["subscribe", "unsubscribe"] = "subscribe"


class TopicStep(StepKind[TopicConfig, None]):
    """The topic step."""

    Config = TopicConfig

    def references(self, config: TopicConfig) -> References:
        """Return the topic."""
        return {"topic_id": (TOPIC, config.topic_id)} if config.topic_id else {}

    def problems(
        self, session: Session, workspace_id: int, configs: Mapping[str, TopicConfig]
    ) -> list[Problem]:
        """Refuse a step without topic, or whose topic is gone."""
        names = self.enrich(session, workspace_id, configs)
        return [
            Problem(
                f"{pointer}/config/topic_id",
                "topic_not_found" if config.topic_id else "topic_missing",
            )
            for pointer, config in configs.items()
            if pointer not in names
        ]

    def run(
        self,
        visits: Sequence[Visit[TopicConfig]],
        facts: Mapping[int, None],  # noqa: ARG002 - a contract
    ) -> Mapping[int, Outcome]:
        """Ask for the membership; the result is what it came to."""
        return {visit.id: _ask(visit.config) for visit in visits}

    def enrich(
        self, session: Session, workspace_id: int, configs: Mapping[str, TopicConfig]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the topic's name beside each step, in one statement."""
        wanted = {config.topic_id for config in configs.values() if config.topic_id}
        names = audience.topic_names(session, workspace_id, wanted)
        return {
            key: {"topic_name": names[config.topic_id]}
            for key, config in configs.items()
            if config.topic_id in names
        }


def _ask(config: TopicConfig) -> Outcome:
    if config.topic_id is None:
        return Failed("NO_TOPIC", "No topic configured")
    return Completed(membership=TopicChange(config.topic_id, config.action == "subscribe"))
