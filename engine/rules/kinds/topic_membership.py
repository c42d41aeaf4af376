"""Condition on membership in a topic: the row is the fact, so a pending one counts (facts 2.3)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, case, not_, select

from engine.audience.models import Contact, Topic, TopicMembership
from engine.rules.kinds import base


class TopicConfig(base.Config):
    """topic_id: public id of the topic. equals: is a member; not_equals: is none."""

    topic_id: Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_-]+$")]
    operator: Literal["equals", "not_equals"]


class TopicMember:
    """The kind `topic_membership`."""

    Config = TopicConfig

    def predicate(self, config: TopicConfig, workspace_id: int) -> ColumnElement[bool]:
        """Return whether the contact is (not) in the topic; an unknown topic has no members."""
        member = _member(config, workspace_id)
        return member if config.operator == "equals" else not_(member)

    def found(self, config: TopicConfig, workspace_id: int) -> ColumnElement[Any]:
        """Return 'member' or 'not_member'."""
        return case((_member(config, workspace_id), "member"), else_="not_member")

    def describe(self, config: TopicConfig) -> base.Description:
        """Return the word topic, the operator and the topic's public id."""
        return base.Description("topic", config.operator, config.topic_id)

    def references(self, config: TopicConfig) -> Sequence[base.Reference]:
        """Return the topic."""
        return (base.Reference("topic", config.topic_id),)


def _member(config: TopicConfig, workspace_id: int) -> ColumnElement[bool]:
    topic = (
        select(Topic.id)
        .where(Topic.workspace_id == workspace_id, Topic.public_id == config.topic_id)
        .scalar_subquery()
    )
    return (
        select(TopicMembership.id)
        .where(
            TopicMembership.workspace_id == workspace_id,
            TopicMembership.contact_id == Contact.id,
            TopicMembership.topic_id == topic,
        )
        .correlate(Contact)
        .exists()
    )
