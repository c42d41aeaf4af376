"""The automation document as the API describes it; the engine judges it (engine.automations)."""

from typing import Any, Final

from pydantic import ConfigDict, RootModel

from engine.automations.document import DocumentPart

EXAMPLE: Final[dict[str, Any]] = {
    "name": "Trial lifecycle",
    "on_pause": "cancel",
    "reentry": "after_end",
    "trigger": {"type": "event_received", "config": {"event_name": "trial_started"}},
    "steps": [
        {"key": "wait", "type": "delay", "config": {"duration": 3, "unit": "days"}},
        {
            "key": "done",
            "type": "condition",
            "config": {
                "condition": {
                    "kind": "contact_property",
                    "field": "first_name",
                    "operator": "equals",
                    "value": "Ada",
                },
                "yes": "end",
                "no": None,
            },
        },
        {
            "key": "mark",
            "type": "update_contact",
            "config": {"changes": {"language": "en", "last_name": None}},
        },
        {
            "key": "join",
            "type": "topic",
            "config": {"topic_id": None, "action": "subscribe"},
        },
        {
            "key": "help",
            "type": "email",
            "config": {"template_id": None, "subject_override": None},
            "next": None,
        },
    ],
}


class AutomationDocument(RootModel[dict[str, Any]]):
    """An automation document: name, trigger, steps; a draft may lack what activation needs."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the schema of the document itself, with a whole example."""
        schema = DocumentPart.model_json_schema(*args, **kwargs)
        return {**schema, "title": cls.__name__, "examples": [EXAMPLE]}
