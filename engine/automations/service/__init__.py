"""The verbs of automations: drafts, moves between statuses, finding. Never commits."""

from engine.automations.service.drafts import Saved, create, remove, save
from engine.automations.service.finding import draft_document, find, people_inside
from engine.automations.service.moves import Wish, move, publish

__all__ = [
    "Saved",
    "Wish",
    "create",
    "draft_document",
    "find",
    "move",
    "people_inside",
    "publish",
    "remove",
    "save",
]
