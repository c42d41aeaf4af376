"""What a check found, in words and with the step that it is about.

Serves the plan, the check, publishing and requests; macros/findings.html draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from engine.automations import checking
from engine.automations.document import read_document
from engine.automations.graph import END
from engine.automations.models import DRAFT
from engine.automations.queries import AutomationDetail
from engine.core.db import JsonObject
from engine.core.outcome import Problem, Refused
from web.automations import messages, track
from web.automations.reading import Told


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    step: the station of the plan that it is about, as the editor's rail takes it, '' for none;
    title: what that step does, where the words do not tell one step from another.
    """

    words: str
    step: str
    title: str = ""

    @property
    def anchor(self) -> str:
        """Return the anchor of the station."""
        return f"at-{self.step}" if self.step else ""


def check(session: Session, workspace_id: int, found: AutomationDetail) -> dict[str, Any]:
    """Return the context of automations/check.html: what forbids going live, what may go wrong."""
    document = read_document(found.draft)
    warned = (
        [] if isinstance(document, Refused) else checking.warnings(session, workspace_id, document)
    )
    # What is incomplete says so in its title; of what is whole the title tells which one it is.
    titles = {} if isinstance(document, Refused) else Told(document, found.names, {}).titles
    return {
        "automation": found.row,
        "problems": blocking(found),
        "warnings": tuple(
            replace(each, title=titles.get(each.step, ""))
            for each in _findings(found.draft, warned)
        ),
    }


def blocking(found: AutomationDetail) -> tuple[Finding, ...]:
    """Return what an activation of the draft would be refused for, in the engine's order."""
    first: list[Problem] = []
    if not found.draft["steps"]:
        first.append(Problem("/steps", "no_steps"))
    if not found.trigger_complete:
        first.append(Problem("/trigger/config", "invalid_trigger_config"))
    return _findings(found.draft, (*first, *found.problems))


def refusal(found: AutomationDetail, refused: Refused) -> dict[str, Any]:
    """Return what a refused press adds to the page: the sentence, and each finding as a link."""
    problems = refused.problems or (Problem("/trigger/config", refused.reason),)
    if refused.reason == "no_steps":
        problems = (Problem("/steps", refused.reason),)
    content = found.draft if found.row.status == DRAFT else found.shown
    return {"refused": messages.reason(refused), "problems": _findings(content, problems)}


def _findings(content: JsonObject, problems: Sequence[Problem]) -> tuple[Finding, ...]:
    return tuple(Finding(_words(each), _station(content, each.pointer)) for each in problems)


def _words(found: Problem) -> str:
    if found.code in messages.REASONS:
        return messages.reason(Refused(found.code, params=found.params))
    return messages.problem(found)


def _station(content: JsonObject, pointer: str) -> str:
    """Return the station that a JSON pointer into the document names, or ''."""
    parts = pointer.strip("/").split("/")
    if parts[0] == "trigger":
        return track.START
    if parts[0] != "steps":
        return ""
    steps = content["steps"]
    if len(parts) > 1 and parts[1].isdecimal() and int(parts[1]) < len(steps):
        return str(steps[int(parts[1])]["key"])
    return END
