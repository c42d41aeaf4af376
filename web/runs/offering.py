"""Which acts the page of a run offers, and what each of them would do, in facts for the dialogs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.automations.models import CANCELLED, COMPLETED, EXECUTING, FAILED, RUNNING
from engine.automations.queries import RunDetail, StepRunRow
from web.automations.reading import Told
from web.runs import way


@dataclass(frozen=True)
class Offer:
    """What may be done to a run now.

    here: the step where the person stands or broke off; following: the step behind it, '' for the
    end. ended: the run is over and would be taken up again. waits: until when a wait goes on that
    the end had cut short. steps: pairs of key and words to move to.
    """

    retry: bool
    skip: bool
    move: bool
    cancel: bool
    dismiss: bool
    ended: bool
    here: str
    following: str
    waits: datetime | None
    steps: Sequence[tuple[str, str]]


def read(told: Told | None, found: RunDetail, at: datetime) -> Offer | None:
    """Return what is on offer; None where there is nothing to do any more.

    A worker may be faster than the reader: what is offered is judged again when it is asked for.
    """
    run, here = found.run, _here(found)
    if run.status == COMPLETED:
        return None
    ended = run.status == CANCELLED
    stands = told is not None and here is not None and (not ended or here.status == FAILED)
    again = ended or (here is not None and _tries_again(here))
    step = told.graph.at(here.step_index) if told and here else None
    following = told.graph.at(told.graph.following(step.index, None)) if told and step else None
    waits = here.delay_until if here and ended and here.delay_until else None
    return Offer(
        retry=stands and again,
        skip=stands,
        move=told is not None,
        cancel=run.status == RUNNING,
        dismiss=found.attention_at is not None,
        ended=ended,
        here=told.title(step) if told and step else "",
        following=told.title(following) if told and following else "",
        waits=waits if waits and waits > at else None,
        steps=[(each.key, told.title(each)) for each in told.graph.steps] if told else (),
    )


def _here(found: RunDetail) -> StepRunRow | None:
    real = [visit for visit in found.steps if way.came(visit) and way.skipped_by(visit) is None]
    return real[-1] if real else None


def _tries_again(visit: StepRunRow) -> bool:
    """Whether a try has failed and the next one is waited for."""
    return visit.status == EXECUTING and len(visit.failures) >= visit.attempt
