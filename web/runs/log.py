"""The log of one run: what happened as sentences, with the evidence beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from flask_babel import gettext as _

from engine.automations.graph import GraphStep
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
from web.automations.kinds.steps import STEPS
from web.automations.kinds.steps.base import Evidence
from web.automations.reading import Told
from web.filters import signal
from web.runs import messages
from web.sends import messages as mails

_TONES: Final = {
    PENDING: "hold",
    EXECUTING: "hold",
    COMPLETED: "go",
    FAILED: "stop",
    SKIPPED: "off",
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
    """One line of the log; see templates/runs/_entry.html. took, late: seconds."""

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


def entries(told: Told, run: RunDetail, sends: Mapping[int, SendRow]) -> list[Entry]:
    """Return the log, oldest first; sends: the mails of the run's steps by row."""
    head = run.run
    found = [Entry("go", told.entered(head.triggered_by, head.trigger_data), at=head.started_at)]
    found += [
        _visit(told, step, visit, sends.get(visit.email_send_row_id or 0), head.status)
        for visit in run.steps
        if (step := told.graph.at(visit.step_index)) is not None
    ]
    if head.status == RUNNING:
        return found + _next(told, run)
    tone, words = ("off", _("Finished")) if head.status == COMPLETED else ("stop", _("Ended early"))
    reason = messages.ended(head.ended_reason)
    return [*found, Entry(tone, str(words), at=head.completed_at, reason=reason)]


def _visit(
    told: Told, step: GraphStep, visit: StepRunRow, send: SendRow | None, run_status: str
) -> Entry:
    begun = _begun(visit)
    ended = visit.completed_at if visit.status != SKIPPED else None
    under_way = run_status == RUNNING and visit.status in (PENDING, EXECUTING)
    result = visit.result or {}
    return Entry(
        tone=_TONES[visit.status],
        words=_words(told, step, visit, result),
        at=begun,
        ended=ended,
        took=(ended - begun).total_seconds() if ended else None,
        late=_late(visit),
        number=visit.step_index + 1,
        step_key=visit.step_key,
        state=_state(visit),
        attempt=visit.attempt,
        reason=_reason(visit, result),
        code=visit.error_code or "" if visit.status == FAILED else "",
        due=visit.due_at if under_way and not _executes(visit) else None,
        rule=STEPS.get(step.type).evidence(told.named(step), result),
        mail=_mail(send) if send else None,
        attempts=_attempts(visit),
    )


def _words(told: Told, step: GraphStep, visit: StepRunRow, result: Mapping[str, Any]) -> str:
    words, named = STEPS.get(step.type), told.named(step)
    if visit.status == COMPLETED:
        return words.done(named, result)
    if visit.status == FAILED:
        return str(_("%(step)s: failed", step=words.title(named)))
    if visit.status == SKIPPED:
        return str(_("%(step)s: skipped", step=words.title(named)))
    return words.under_way(named)


def _begun(visit: StepRunRow) -> datetime:
    """Return when it began; a wait begins when the person arrives, not when it is over."""
    if visit.delay_until is not None or visit.started_at is None:
        return visit.scheduled_at
    return visit.started_at


def _late(visit: StepRunRow) -> float | None:
    if visit.delay_until is None or visit.started_at is None:
        return None
    late = visit.started_at - visit.delay_until
    return late.total_seconds() if late >= _LATE else None


def _state(visit: StepRunRow) -> str:
    if visit.status == EXECUTING and not _executes(visit):
        return str(_("Tries again"))
    return str(signal(visit.status, "step_run").word)


def _executes(visit: StepRunRow) -> bool:
    """Whether a worker is at it now; between two attempts nobody is (decision A7)."""
    return visit.status == EXECUTING and len(visit.failures) < visit.attempt


def _reason(visit: StepRunRow, result: Mapping[str, Any]) -> str:
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
