"""No refusal of a request reaches a page without words."""

from flask import Flask

from engine.core.outcome import Problem, Refused
from tests.rules.checks import words
from tests.rules.checks.source import sources
from web.approvals import messages


def test_every_refusal_of_asking_and_granting_has_a_sentence(app: Flask) -> None:
    files = {"engine/accounts/service/approvals.py", "engine/automations/service/requesting.py"}
    found = set().union(*(words.refusals(each) for each in sources("engine") if each.path in files))
    assert {"draft_changed", "decided_already", "already_asked"} <= found
    params: dict[str, str | int] = {
        "by": "user:ada",
        "at": "2026-03-02T09:00:00+00:00",
        "longest": 1000,
    }
    with app.test_request_context():
        for code in found:
            said = messages.words(Refused(code, problems=(Problem("/", code, params),)))
            assert "%(" not in said
            assert said != code.replace("_", " "), code
