"""The verbs of automations: drafts, moves between statuses, publishing, finding. Never commits."""

from engine.automations.act_judging import RunAct
from engine.automations.service.acting import Done, act, act_many
from engine.automations.service.drafts import create, duplicate, remove, save
from engine.automations.service.editing import Seen, current, edit, redo, restore, undo
from engine.automations.service.finding import draft_document, find, people_inside
from engine.automations.service.keeping import Act, Saved, as_document
from engine.automations.service.moves import StatusChange, Wish, change_status, move
from engine.automations.service.previewing import PublishPreview, StepImpact, preview_publish
from engine.automations.service.publishing import MOVE, STAY, Published, publish

__all__ = [
    "MOVE",
    "STAY",
    "Act",
    "Done",
    "PublishPreview",
    "Published",
    "RunAct",
    "Saved",
    "Seen",
    "StatusChange",
    "StepImpact",
    "Wish",
    "act",
    "act_many",
    "as_document",
    "change_status",
    "create",
    "current",
    "draft_document",
    "duplicate",
    "edit",
    "find",
    "move",
    "people_inside",
    "preview_publish",
    "publish",
    "redo",
    "remove",
    "restore",
    "save",
    "undo",
]
