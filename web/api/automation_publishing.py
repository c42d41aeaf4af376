"""Publishing by API: what it would change and whom it would meet, and the publish itself."""

from typing import Annotated

from pydantic import Field

from engine.automations import service
from engine.core.outcome import Refused
from web.api.answers import ETAG_MISMATCH
from web.api.automation_differences import (
    DRAFT_FIRST,
    Differences,
    current_draft,
    differences,
    tag_of,
)
from web.api.automations import UNKNOWN, AutomationOut, applied, area, detail_of, version_of
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, Out, example, one_of
from web.api.problems import Told


class PublishAsk(In):
    """What becomes of people inside: they stay on their revision, or move at the same step key.

    version: the ETag of the draft that is meant; another one is refused with 412.
    """

    people_inside: one_of("stay", "move") = "stay"  # type: ignore[valid-type]
    version: Annotated[str, Field(max_length=40)] | None = None

    model_config = example(people_inside="stay")


class PublishOut(AutomationOut):
    """The automation after it. applied: transitioned, or recorded where the draft was in force.

    moved: people who go on in the new revision; stayed: people inside who go on in an older one, as
    their step is gone or being executed, or as was asked for; reactivated: whether the trigger
    changed, so that the publish is a new activation.
    """

    applied: str
    moved: int
    stayed: int
    reactivated: bool


class StepPeople(Out):
    """The people at one step. gone: the draft has no such step, so they stay on their revision.

    due_at_once: how many of them a move lets go on within minutes, as their wait became shorter;
    null where more than 10,000 people are inside, so that nobody counted.
    """

    step: str
    people: int
    gone: bool
    due_at_once: int | None


class DraftDifferences(Out):
    """The draft against what is in force, and whom a publish meets.

    revision: number of the one in force, null for a draft that is not live: then nothing differs
    and nobody is inside. version: the draft's ETag, which publish takes. would_move, would_stay:
    how the people inside part if the publish moves them; finished: people who got to an end, and to
    whom nothing is added. steps: each step where people are.
    """

    revision: int | None
    version: str
    differences: Differences
    people_inside: int
    would_move: int
    would_stay: int
    finished: int
    steps: list[StepPeople]


@area.get("/automations/<id>/differences", "automations:read", DraftDifferences)
def get_differences(call: Call, path: ById) -> Result:
    """Read what publishing the draft would change, and how many people stand where."""
    found = service.preview_publish(call.session, call.workspace_id, path.id, call.at)
    if isinstance(found, Refused):
        return _nothing_live(call, path.id) if found.reason == DRAFT_FIRST.reason else found
    steps = [
        StepPeople(
            step=each.key, people=each.standing, gone=each.gone, due_at_once=each.due_at_once
        )
        for each in found.impacts
    ]
    return Answer(
        DraftDifferences(
            revision=found.revision,
            version=tag_of(found.version),
            differences=differences(found.comparison),
            people_inside=found.inside,
            would_move=found.would_move,
            would_stay=found.would_stay,
            finished=found.finished,
            steps=steps,
        )
    )


@area.post("/automations/<id>/publish", "automations:publish", {200: PublishOut}, refuses=(412,))
def publish_automation(call: Call, path: ById, body: PublishAsk) -> Result:
    """Put the draft of a live automation in force; a paused one stays paused.

    A 412 shows the draft as it stands and who changed it (`current`).
    """
    wanted = None if body.version is None else version_of(body.version)
    done = service.publish(
        call.session, call.workspace_id, path.id, body.people_inside, call.actor, call.at, wanted
    )
    if isinstance(done, Refused):
        if done.reason == "stale":
            return _too_late(call, path.id)
        return DRAFT_FIRST if done.reason == DRAFT_FIRST.reason else done
    detail = detail_of(call, path.id)
    if detail is None:
        return UNKNOWN
    return Answer(
        PublishOut(
            **detail,
            applied=applied(new=done.new),
            moved=done.moved,
            stayed=done.stayed,
            reactivated=done.reactivated,
        )
    )


def _nothing_live(call: Call, public_id: str) -> Result:
    seen = service.current(call.session, call.workspace_id, public_id)
    if seen is None:
        return UNKNOWN
    nothing = Differences(steps=[], settings=[], trigger_changed=False)
    return Answer(
        DraftDifferences(
            revision=None,
            version=tag_of(seen.version),
            differences=nothing,
            people_inside=0,
            would_move=0,
            would_stay=0,
            finished=0,
            steps=[],
        )
    )


def _too_late(call: Call, public_id: str) -> Refused:
    seen = service.current(call.session, call.workspace_id, public_id)
    if seen is None:
        return UNKNOWN
    members = {"current": current_draft(seen).model_dump(mode="json")}
    return Told(ETAG_MISMATCH.reason, ETAG_MISMATCH.kind, members=members)
