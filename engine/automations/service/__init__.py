"""The verbs of automations: drafts, moves between statuses, publishing, finding. Never commits."""

from engine.automations.service.drafts import Saved, create, duplicate, remove, save
from engine.automations.service.finding import draft_document, find, people_inside
from engine.automations.service.moves import StatusChange, Wish, change_status, move
from engine.automations.service.publishing import MOVE, STAY, Published, publish

__all__ = [
    "MOVE",
    "STAY",
    "Published",
    "Saved",
    "StatusChange",
    "Wish",
    "change_status",
    "create",
    "draft_document",
    "duplicate",
    "find",
    "move",
    "people_inside",
    "publish",
    "remove",
    "save",
]
