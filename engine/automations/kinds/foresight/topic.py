"""What a subscription, or its end, would come to."""

from engine.audience import queries as audience
from engine.automations.applying import TOPIC_GONE
from engine.automations.kinds.foresight.base import Foreseen, Foresight, Scene
from engine.automations.kinds.steps.base import Completed, Failed
from engine.automations.kinds.steps.topic import TopicConfig, TopicStep

_KIND = TopicStep()


class TopicForesight(Foresight[TopicConfig]):
    """The subscription."""

    def foresee(self, scene: Scene, config: TopicConfig) -> Foreseen:
        """Say what it comes to, and who the person is then (facts 3.4, 3.5)."""
        outcome = _KIND.run([scene.visit(config)], {})[0]
        if isinstance(outcome, Failed):
            return Foreseen(failed=outcome)
        if not isinstance(outcome, Completed) or outcome.membership is None:
            raise ValueError("a topic step completes with a wish")
        wanted, who = outcome.membership, scene.who
        topic = audience.get_topic(scene.session, scene.workspace_id, wanted.topic_id)
        if topic is None:
            return Foreseen(failed=TOPIC_GONE)
        member = wanted.topic_id in who.topics
        if not wanted.join:
            gone = {"outcome": "unsubscribed" if member else "not_member"}
            return Foreseen(result=gone, who=who.left(wanted.topic_id))
        if member:
            return Foreseen(result={"outcome": "already_member"})
        pending = topic.require_double_opt_in
        return Foreseen(
            result={"outcome": "pending_doi" if pending else "subscribed"},
            who=who.joined(wanted.topic_id, confirmed=not pending),
        )
