"""What reads of runs ask for and answer: the filter, a run, its visits to steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from engine.automations.queries.run_moves import Move
from engine.core.db import JsonObject


@dataclass(frozen=True)
class RunFilter:
    """What a list of runs shows; public ids, None means any.

    step: the key of the step where a person stands or failed. q: who (address, name, external id).
    error: part of an error's code or text. attention: those that wait for a person to look at a
    failed step; then step is that step, and error its code.
    """

    automation: str | None = None
    contact: str | None = None
    status: str | None = None
    step: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    q: str | None = None
    error: str | None = None
    attention: bool = False


def write_filter(wanted: RunFilter) -> JsonObject:
    """Return a filter as a row keeps it: what is asked for, instants as text."""
    found = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in found.items()
        if value
    }


def read_filter(kept: JsonObject) -> RunFilter:
    """Return the filter that a row keeps; see `write_filter`."""
    found: dict[str, Any] = dict(kept)
    for name in ("since", "until"):
        if name in found:
            found[name] = datetime.fromisoformat(found[name])
    return RunFilter(**found)


@dataclass(frozen=True)
class RunRow:
    """One run as lists show it. step_key, due_at: the visit under way; error: the last one's.

    paused: what its paused automation does with whoever becomes due (`hold`, `cancel`), None where
    it is not paused; held_at: since when the visit under way is parked.
    """

    row_id: int
    public_id: str
    automation_id: str
    automation_name: str
    contact_id: str
    contact_email: str | None
    contact_name: str
    contact_row_id: int
    status: str
    ended_reason: str | None
    revision: int
    revision_row_id: int
    triggered_by: str
    trigger_data: JsonObject | None
    event_id: str | None
    current_step_index: int
    steps_executed: int
    started_at: datetime
    completed_at: datetime | None
    step_key: str | None = None
    step_type: str | None = None
    due_at: datetime | None = None
    error_code: str | None = None
    error_message: str | None = None
    paused: str | None = None
    held_at: datetime | None = None


@dataclass(frozen=True)
class StepRunRow:
    """One visit to a step. id: `<run id>.<place>`; due_at of an ended visit says nothing.

    revision: number of the one it goes by; a run that publishes took along has several.
    """

    id: str
    step_index: int
    step_key: str
    step_type: str
    status: str
    attempt: int
    scheduled_at: datetime
    delay_until: datetime | None
    due_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    email_send_row_id: int | None
    result: JsonObject | None
    failures: Sequence[JsonObject]
    error_code: str | None
    error_message: str | None
    revision: int
    held_at: datetime | None = None


@dataclass(frozen=True)
class RunDetail:
    """One run: its head, the frozen document it is pinned to, and every visit, oldest first.

    entered_with: number of the revision in force when the run began; moves: the publishes that took
    it along, the oldest first (decision A8). documents: the frozen documents by number, of every
    revision that a visit went by. attention_at: since when it waits for a person to look at its
    failed step.
    """

    run: RunRow
    document: JsonObject
    steps: tuple[StepRunRow, ...]
    entered_with: int
    moves: tuple[Move, ...] = ()
    attention_at: datetime | None = None
    documents: Mapping[int, JsonObject] = field(default_factory=dict)
