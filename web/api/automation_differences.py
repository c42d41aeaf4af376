"""What differs between two drafts, and the refusal that shows the newer one to a late writer."""

from datetime import datetime
from typing import Any, Final

from engine.automations import comparing
from engine.automations.comparing import Comparison
from engine.automations.service import Seen
from engine.core.db import JsonObject
from web.api.answers import ETAG_MISMATCH
from web.api.fields import Out
from web.api.problems import Told

# What the state machine forbids here has one way out; the general sentence does not name it.
DRAFT_FIRST: Final = Told(
    "illegal_edge", members={"detail": "It is a draft; activate it with transitions."}
)


class FieldDifference(Out):
    """One value that differs. path: within its step or the document, as `config.duration`."""

    path: str
    before: Any
    after: Any


class StepDifference(Out):
    """What became of one step. step: its key; what: added, removed, changed or moved.

    moved: whether it stands elsewhere, which a changed one may as well. fields: of a changed one.
    """

    step: str
    what: str
    type: str
    moved: bool
    fields: list[FieldDifference]


class Differences(Out):
    """All that differs between two documents. settings: everything but the steps."""

    steps: list[StepDifference]
    settings: list[FieldDifference]
    trigger_changed: bool


class CurrentDraft(Out):
    """A draft as it stands now. etag: for If-Match; edited_by: the actor, null if unknown."""

    etag: str
    edited_by: str | None
    edited_at: datetime
    document: dict[str, Any]


def differences(found: Comparison) -> Differences:
    """Return a comparison as the API shows it."""
    steps = [
        StepDifference(
            step=change.key,
            what=change.what,
            type=change.type,
            moved=change.moved,
            fields=[FieldDifference.model_validate(field) for field in change.fields],
        )
        for change in found.steps
    ]
    settings = [FieldDifference.model_validate(field) for field in found.settings]
    return Differences(steps=steps, settings=settings, trigger_changed=found.trigger_changed)


def tag_of(version: int) -> str:
    """Return the ETag of a version of a draft."""
    return f'"{version}"'


def current_draft(seen: Seen) -> CurrentDraft:
    """Return a draft as the API shows it to whoever came too late."""
    return CurrentDraft(
        etag=tag_of(seen.version),
        edited_by=seen.by or None,
        edited_at=seen.at,
        document=seen.document,
    )


def too_late(seen: Seen, sent: JsonObject) -> Told:
    """Return the refusal of `sent`, whose writer has seen an older draft than `seen`.

    It shows both: the draft as it stands, and what the one sent would change in it.
    """
    current = current_draft(seen)
    shown = differences(comparing.compare(seen.document, sent))
    members = {
        "current": current.model_dump(mode="json"),
        "differences": shown.model_dump(mode="json"),
    }
    return Told(ETAG_MISMATCH.reason, ETAG_MISMATCH.kind, members=members)
