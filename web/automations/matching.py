"""How many people fulfil a rule that somebody is writing, and which values the property has."""

from typing import Any, Final

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from engine.audience import queries as audience
from engine.rules import service as rules
from web.automations import offering
from web.automations.kinds import conditions
from web.automations.kinds.step_forms.condition import ConditionForm

_FORM: Final = ConditionForm()
_MOST_VALUES: Final = 20


def read(session: Session, workspace_id: int, asked: MultiDict[str, str]) -> dict[str, Any]:
    """Return the context of automations/matches.html; asked: the fields of the rule's form."""
    choices = offering.read(session, workspace_id, _FORM.wants)
    form = _FORM.fill({}, choices, asked)
    document = _FORM.read(form)["condition"]
    condition = rules.read_condition(document, "")
    count = None
    if not isinstance(condition, list):
        count = rules.count(session, workspace_id, condition)
    known: list[str] = []
    if document and document["kind"] == "contact_property":
        known = audience.known_values(session, workspace_id, document["field"], _MOST_VALUES)
    names = dict(choices.topics)
    return {"rule": conditions.rule(document, names), "count": count, "known": known}
