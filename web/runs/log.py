"""The log of one run: what happened as sentences, with the evidence beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from flask_babel import gettext as _

from engine.automations.graph import GraphStep
from engine.automations.holding import OVERDUE
from engine.automations.models import (
    COMPLETED,
    EXECUTING,
    FAILED,
    PENDING,
    RUNNING,
    SKIPPED,
)
from engine.automations.queries import RunDetail, StepRunRow
from engine.delivery.queries import SendRow
from web.audit.messages import who
from web.automations.differences import Setting, step_settings
from web.automations.kinds.steps import STEPS
from web.automations.kinds.steps.base import Evidence
from web.automations.reading import Told
from web.filters import signal
from web.runs import messages
from web.runs.way import Then, came, left_here, moved_to, skipped_by
from web.sends import messages as mails

# How pages tell visits that are stored as pending and as failed; see web.filters.SIGNALS.
_HELD: Final = "held"
_LEFT: Final = "left"
_TONES: Final = {
    PENDING: "hold",
    EXECUTING: "hold",
    COMPLETED: "go",
    FAILED: "stop",
    SKIPPED: "off",
    _HELD: "hold",
    _LEFT: "off",
}
# Being taken up a moment after the due time is no news.
_LATE: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Mail:
    """The mail of a step: where it is, what became of it, what the other server answered."""

    public_id: str
    words: str
    reply: str
    message_id: str


@dataclass(frozen=True)
class Attempt:
    """A failed attempt in words."""

    number: int
    words: str
    code: str


@dataclass(frozen=True)
class Entry:
    """One line of the log; see templates/runs/_entry.html. took, late: seconds.

    revision: number of the one that the step belongs to, None where there is but one to speak of;
    settings: of the step, as that revision has it.
    """

    tone: str
    words: str
    at: datetime | None = None
    ended: datetime | None = None
    took: float | None = None
    late: float | None = None
    number: int | None = None
    step_key: str = ""
    state: str = ""
    attempt: int = 0
    reason: str = ""
    code: str = ""
    due: datetime | None = None
    rule: Evidence | None = None
    mail: Mail | None = None
    attempts: Sequence[Attempt] = ()
    revision: int | None = None
    settings: Sequence[Setting] = ()


@dataclass(frozen=True)
class Beside:
    """What the log needs beside the run.

    sends: the mails of its steps by row; names: of the actors in it; doings: what was done to its
    automation meanwhile, as lines of their own. then: the revisions that its visits went by, by
    number; empty where the run goes by the one in force and never went by another.
    """

    sends: Mapping[int, SendRow] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    doings: Sequence[Entry] = ()
    then: Then = field(default_factory=dict)


def actors(run: RunDetail) -> set[str]:
    """Return who skipped steps of a run, as they are stored."""
    return {by for visit in run.steps if (by := skipped_by(visit)) is not None}


def entries(told: Told, run: RunDetail, beside: Beside) -> list[Entry]:
    """Return the log, oldest first."""
    head = run.run
    entered = told.entered(head.triggered_by, head.trigger_data)
    # Where instants are the same, a resume stands before the step that it let go on.
    found = [Entry("go", entered, at=head.started_at), *beside.doings]
    found += [
        _visit(gone_by, step, visit, beside, head.status)
        for visit, gone_by in ((each, beside.then.get(each.revision, told)) for each in run.steps)
        if (step := gone_by.graph.at(visit.step_index)) is not None
    ]
    found.sort(key=lambda entry: entry.at or head.started_at)
    if head.status == RUNNING:
        return found + _next(told, run)
    words = _("Finished") if head.status == COMPLETED else _("Ended early")
    tone = "stop" if head.ended_reason in messages.BROKEN else "off"
    reason = messages.ended(head.ended_reason)
    return [*found, Entry(tone, str(words), at=head.completed_at, reason=reason)]


def _visit(
    told: Told, step: GraphStep, visit: StepRunRow, beside: Beside, run_status: str
) -> Entry:
    begun = _begun(visit)
    ended = visit.completed_at if visit.status != SKIPPED else None
    send = beside.sends.get(visit.email_send_row_id or 0)
    under_way = run_status == RUNNING and visit.status in (PENDING, EXECUTING)
    result = visit.result or {}
    return Entry(
        tone=_TONES[_shown(visit)],
        words=_words(told, step, visit, result),
        at=begun,
        ended=ended,
        took=(ended - begun).total_seconds() if ended else None,
        late=_late(visit),
        number=visit.step_index + 1,
        step_key=visit.step_key,
        state=_state(visit),
        attempt=visit.attempt,
        reason=_reason(visit, result, beside.names),
        code=visit.error_code or "" if _failed(visit) else "",
        due=visit.due_at if under_way and not _executes(visit) else None,
        rule=STEPS.get(step.type).evidence(told.named(step), result),
        mail=_mail(send) if send else None,
        attempts=_attempts(visit),
        revision=visit.revision if visit.revision in beside.then else None,
        settings=step_settings(told, step) if came(visit) and visit.revision in beside.then else (),
    )


def _words(told: Told, step: GraphStep, visit: StepRunRow, result: Mapping[str, Any]) -> str:
    words, named = STEPS.get(step.type), told.named(step)
    if visit.status == COMPLETED:
        return words.done(named, result)
    if visit.status == FAILED:
        title = words.title(named)
        failed = _("%(step)s: failed", step=title)
        return str(failed if _failed(visit) else _("%(step)s: left here", step=title))
    if visit.status == SKIPPED:
        left = _("%(step)s: left for another step", step=words.title(named))
        skipped = _("%(step)s: skipped", step=words.title(named))
        return str(left if moved_to(visit) else skipped)
    return words.under_way(named)


def _begun(visit: StepRunRow) -> datetime:
    """Return when it began; a wait begins when the person arrives, not when it is over."""
    if visit.delay_until is not None or visit.started_at is None:
        return visit.scheduled_at
    return visit.started_at


def _late(visit: StepRunRow) -> float | None:
    ran = _shown(visit) not in (SKIPPED, _LEFT)
    if not ran or visit.delay_until is None or visit.started_at is None:
        return None
    late = visit.started_at - visit.delay_until
    return late.total_seconds() if late >= _LATE else None


def _failed(visit: StepRunRow) -> bool:
    """Whether something went wrong here; a run that was ended around its step is no failure."""
    return visit.status == FAILED and not left_here(visit)


def _shown(visit: StepRunRow) -> str:
    """Return the status as pages show it."""
    if visit.status == FAILED:
        return FAILED if _failed(visit) else _LEFT
    return visit.status if visit.held_at is None else _HELD


def _state(visit: StepRunRow) -> str:
    if visit.held_at is None and visit.status == EXECUTING and not _executes(visit):
        return str(_("Tries again"))
    return str(signal(_shown(visit), "step_run").word)


def _executes(visit: StepRunRow) -> bool:
    """Whether a worker is at it now; between two attempts nobody is (decision A7)."""
    return visit.status == EXECUTING and len(visit.failures) < visit.attempt


def _reason(visit: StepRunRow, result: Mapping[str, Any], names: Mapping[str, str]) -> str:
    by = skipped_by(visit)
    if by is not None and result.get("reason") == OVERDUE:
        return str(_("Skipped when %(actor)s resumed the automation.", actor=who(by, names)))
    if by is not None and moved_to(visit):
        return str(_("Moved by %(actor)s.", actor=who(by, names)))
    if by is not None:
        return str(_("Skipped by %(actor)s.", actor=who(by, names)))
    if visit.status == SKIPPED:
        return str(_("The way that was taken leads past this step."))
    if visit.status == FAILED:
        return messages.failed(visit.error_code, visit.error_message)
    code = result.get("reason")
    return messages.failed(str(code), None) if code else ""


def _attempts(visit: StepRunRow) -> list[Attempt]:
    """Return the failed attempts, but the last one where it is the reason already."""
    told = visit.failures[:-1] if visit.status == FAILED else visit.failures
    return [
        Attempt(int(each["attempt"]), messages.failed(each["code"], each["message"]), each["code"])
        for each in told
    ]


def _mail(send: SendRow) -> Mail:
    reply = "" if send.kept else send.provider_reply or ""
    return Mail(send.public_id, mails.became(send), reply, send.message_id or "")


def _next(told: Told, run: RunDetail) -> list[Entry]:
    """Return the line that says what comes next, where only one step can."""
    here = told.graph.at(run.run.current_step_index)
    if here is None or here.exits or here.kind.ends:
        return []
    following = told.graph.at(here.after)
    title = told.title(following) if following else str(_("End"))
    return [Entry("off", str(_("Next: %(step)s", step=title)))]
