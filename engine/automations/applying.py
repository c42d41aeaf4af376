"""Changes of people that steps asked for, written set-wise in the transaction that settles them.

A kind only names the change; here it happens, under the lock of the contact, so that the result a
run keeps is what really changed. Events are recorded, so other automations may start (facts 1.3).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.audience import service as audience
from engine.audience.inputs import AUTOMATION, ContactPatch
from engine.audience.models import Contact
from engine.automations import chains
from engine.automations.kinds.steps.base import Failed, TopicChange
from engine.core.db import among
from engine.core.events import Cause
from engine.core.outcome import Refused

# Outcomes of a membership that changed nothing, so that nothing happened.
_AS_IT_WAS: Final = frozenset({"already_member", "not_member"})
CONTACT_GONE: Final = Failed("CONTACT_NOT_FOUND", "Automation run or contact not found")
TOPIC_GONE: Final = Failed("TOPIC_NOT_FOUND", "Topic not found")
_GONE: Final[Mapping[str, Failed]] = {
    "contact_not_found": CONTACT_GONE,
    "topic_not_found": TOPIC_GONE,
}
# The how-many-th change of its people, the workspace, the membership or None for a patch.
_Group = tuple[int, int, TopicChange | None]


@dataclass(frozen=True)
class Change:
    """What one completed visit wants of its person. contact_id: the contact's row.

    patch, membership: as `Completed` has them; usually one of the two.
    """

    step_run_id: int
    workspace_id: int
    contact_id: int
    patch: ContactPatch | None = None
    membership: TopicChange | None = None


@dataclass
class Applied:
    """What became of the changes, by step run.

    failed: nothing was written for these; results: what the run keeps beside the kind's own result,
    `changes` (key, before, after) of a patch, `outcome` of a membership, and as `reason` that the
    change started no automation any more. causes: of the events, by step run.
    """

    causes: Mapping[int, Cause]

    failed: dict[int, Failed] = field(default_factory=dict)
    results: dict[int, dict[str, Any]] = field(default_factory=dict)


def lock(session: Session, contact_ids: Collection[int]) -> None:
    """Lock contacts in the order of their ids; who also locks step runs does this before."""
    session.execute(
        select(Contact.id)
        .where(among(session, Contact.id, contact_ids))
        .order_by(Contact.id)
        .with_for_update(key_share=True)
    )


def apply(session: Session, wanted: Sequence[Change], at: datetime) -> Applied:
    """Write the changes and record their events, in a session without a workspace.

    Contacts are locked in the order of their ids. Two changes of one person in a batch happen one
    after the other, in the order of `wanted`. Failures: CONTACT_NOT_FOUND, TOPIC_NOT_FOUND,
    PROPERTY_NOT_FOUND, INVALID_VALUE.
    """
    applied = Applied(chains.causes(session, {each.step_run_id for each in wanted}, at))
    groups = _groups(wanted)
    if len(groups) > 1:  # each group locks its own people, but only those in order
        lock(session, {each.contact_id for each in wanted})
    for (_turn, workspace_id, membership), changes in groups.items():
        if membership is None:
            _patch(session, applied, workspace_id, changes, at)
        else:
            _move(session, applied, workspace_id, membership, changes, at)
    return applied


def _groups(wanted: Sequence[Change]) -> Mapping[_Group, Sequence[Change]]:
    """Return the changes that are written together: a person stands once in each group."""
    groups: dict[_Group, list[Change]] = defaultdict(list)
    turns: Counter[int] = Counter()
    for change in wanted:
        turns[change.contact_id] += 1
        turn = turns[change.contact_id]
        if change.patch is not None:
            groups[turn, change.workspace_id, None].append(change)
        if change.membership is not None:
            groups[turn, change.workspace_id, change.membership].append(change)
    return dict(sorted(groups.items(), key=lambda group: group[0][0]))


def _patch(
    session: Session,
    applied: Applied,
    workspace_id: int,
    changes: Sequence[Change],
    at: datetime,
) -> None:
    patches = {each.contact_id: each.patch for each in changes if each.patch is not None}
    causes = _causes(applied, changes)
    answers = audience.update_contacts(session, workspace_id, patches, AUTOMATION, at, causes)
    for change in changes:
        answer = answers[change.contact_id]
        if isinstance(answer, Refused):
            applied.failed[change.step_run_id] = refusal(answer)
        else:
            told = [
                {"key": each.key, "before": each.before, "after": each.after} for each in answer
            ]
            _keep(applied, change, "changes", told, happened=bool(told))


def _move(
    session: Session,
    applied: Applied,
    workspace_id: int,
    membership: TopicChange,
    changes: Sequence[Change],
    at: datetime,
) -> None:
    act = audience.subscribe_many if membership.join else audience.unsubscribe_many
    people = [each.contact_id for each in changes]
    place = (session, workspace_id, membership.topic_id, people, AUTOMATION, at)
    answers = act(*place, causes=_causes(applied, changes))
    for change in changes:
        answer = answers[change.contact_id]
        if isinstance(answer, Refused):
            applied.failed[change.step_run_id] = refusal(answer)
        else:
            happened = answer.outcome not in _AS_IT_WAS
            _keep(applied, change, "outcome", answer.outcome, happened=happened)


def _causes(applied: Applied, changes: Sequence[Change]) -> Mapping[int, Cause]:
    return {each.contact_id: applied.causes[each.step_run_id] for each in changes}


def _keep(applied: Applied, change: Change, name: str, told: Any, *, happened: bool) -> None:
    result = applied.results.setdefault(change.step_run_id, {})
    result[name] = told
    if happened and not applied.causes[change.step_run_id].starts:
        result["reason"] = chains.ENDED


def refusal(refused: Refused) -> Failed:
    """Return why a change was not made, as a step fails with it."""
    if not refused.problems:
        return _GONE.get(refused.reason, Failed("INVALID_VALUE", refused.reason))
    problem = refused.problems[0]
    key = problem.pointer.rsplit("/", 1)[-1]
    if problem.code == "unknown_property":
        return Failed("PROPERTY_NOT_FOUND", f"Contact property not found: {key}")
    return Failed("INVALID_VALUE", f"Value does not fit contact property: {key}")
