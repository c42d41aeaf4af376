"""Every refusal of accounts has words, and each sentence can be filled in."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.core.outcome import Refused
from web.accounts.messages import WORDS, words
from web.approvals import messages as approvals
from web.runs import messages as runs
from web.secrets import messages as secrets
from web.workspace import messages as workspace

ROOM = Path("engine/accounts")
PARAMS: Mapping[str, str | int] = {
    "longest": 200,
    "shortest": 24,
    "retry_after": 60,
    "role": "pope",
    "scope": "all",
}


def _reasons() -> set[str]:
    """Return the first argument of every Refused(…), invalid(…) and missing(…) of the room."""
    found: set[str] = set()
    for path in Path(__file__).parents[3].joinpath(ROOM).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"Refused", "invalid", "missing"}
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(str(node.args[0].value))
    return found


def test_every_reason_of_the_room_has_words() -> None:
    reasons = _reasons()
    assert len(reasons) > 10
    # Limits, secrets and requests have pages of their own; views stand with the list of runs.
    elsewhere = {*workspace.WORDS, *secrets.WORDS, *approvals.WORDS, *runs.REASONS}
    assert reasons - set(WORDS) - elsewhere == set()


@pytest.mark.parametrize("reason", sorted(WORDS))
def test_every_sentence_can_be_filled_in(app: object, reason: str) -> None:
    sentence = words(Refused(reason, params=PARAMS))
    assert sentence
    assert "%(" not in sentence
