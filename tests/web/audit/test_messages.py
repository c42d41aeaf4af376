"""No action of the audit log reaches its page without words."""

import ast
import re

from engine.automations.service.requesting import KINDS
from tests.rules.checks.source import sources
from web.audit.messages import ACTIONS

ACTION = re.compile(r"([a-z_]+)\.[a-z_]+")


def test_every_action_that_the_engine_writes_down_has_words() -> None:
    things = {action.partition(".")[0] for action in ACTIONS}
    found = {
        node.value
        for source in sources("engine")
        for node in source.nodes()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (spelt := ACTION.fullmatch(node.value))
        and spelt[1] in things
    }
    assert {"automation.published", "automation.stopped"} <= found
    # What is asked for in a request is spelt alike and written down as a detail.
    assert found - set(KINDS) - set(ACTIONS) == set()
