"""A simulated way as its page shows it: lines in words, mails, the lit plan, the way as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext
from flask_babel.speaklater import LazyString

from engine.automations.graph import GraphStep
from engine.automations.kinds.foresight import FORESIGHT
from engine.automations.run_lifecycle import FINISHED
from engine.automations.simulating import SimulatedVisit, Simulation
from engine.delivery.service import PreviewedMail
from web.automations.kinds.steps import STEPS
from web.automations.kinds.steps.base import Evidence
from web.automations.reading import Told
from web.automations.track import Pass, Way
from web.runs import messages

# Why a way ends at a step that no run could reach, since a check forbids to go live with it.
UNFINISHED: Final[Mapping[str, LazyString]] = {
    "DELAY_WITHOUT_DURATION": lazy_gettext("The wait has no length."),
    "CONDITION_MISSING": lazy_gettext("The branch has no rule."),
}


@dataclass(frozen=True)
class Mail:
    """A mail as it would be. withheld: why it would not leave, or ''; has_html: whether to frame
    it; missing: variables that rendered empty."""

    number: int
    to: str
    sender: str
    subject: str
    text: str
    has_html: bool
    missing: Sequence[str]
    flaw: str


@dataclass(frozen=True)
class Line:
    """One station of the way. since: from entering until the person comes here; stay: how long
    they stand here; reason: words or ''; code: of a failure."""

    tone: str
    words: str
    key: str
    number: int
    arrives: datetime
    since: timedelta
    stay: timedelta
    rule: Evidence | None
    reason: str
    code: str
    mail: Mail | None


@dataclass(frozen=True)
class Choice:
    """A step whose outcome one may choose: (stored name, word) of each, and which is taken."""

    key: str
    title: str
    outcomes: Sequence[tuple[str, str]]
    taken: str


@dataclass(frozen=True)
class Stop:
    """A station of the way as text; word: the way out taken there, or ''."""

    title: str
    word: str


def lines(told: Told, found: Simulation) -> list[Line]:
    """Return the stations in the order they would be passed."""
    return [
        _line(told, told.graph.steps[visit.index], visit, number, found)
        for number, visit in enumerate(found.visits)
    ]


def ended(found: Simulation) -> str:
    """Return how the way would end."""
    return messages.ended(found.ended)


def choices(told: Told, chosen: Mapping[str, str]) -> list[Choice]:
    """Return the steps of the document whose outcome one may choose."""
    offered = []
    for step in told.graph.steps:
        names = FORESIGHT.get(step.type).choices(step.config)
        if names:
            words = STEPS.get(step.type)
            outcomes = [(name, words.way_out(name)) for name in names]
            taken = chosen.get(step.key, names[0])
            offered.append(Choice(step.key, told.title(step), outcomes, taken))
    return offered


def way(told: Told, found: Simulation) -> Way:
    """Return the way for the plan."""
    last = len(told.graph.steps) + 1
    states = {0: "done"}
    states |= {visit.index + 1: "failed" if visit.error else "done" for visit in found.visits}
    taken: set[Pass] = {(0, None, visit.index + 1) for visit in found.visits[:1]}
    taken |= {_passed(told, visit) for visit in found.visits if visit.error is None}
    if found.ended == FINISHED:
        states[last] = "done"
    return Way(states, frozenset(taken))


def path(told: Told, found: Simulation) -> list[Stop]:
    """Return the way in words."""
    stops = [Stop(told.trigger(), "")]
    for visit in found.visits:
        step = told.graph.steps[visit.index]
        word = STEPS.get(step.type).way_out(visit.branch) if visit.branch else ""
        stops.append(Stop(told.titles[step.key], word))
    last = told.graph.steps[found.visits[-1].index] if found.visits else None
    if found.ended == FINISHED and not (last and last.kind.ends):
        stops.append(Stop(str(_("End")), ""))
    return stops


def _passed(told: Told, visit: SimulatedVisit) -> Pass:
    step = told.graph.steps[visit.index]
    name = visit.branch if visit.branch in step.exits else None
    return visit.index + 1, name, told.graph.following(visit.index, visit.branch) + 1


def _line(
    told: Told, step: GraphStep, visit: SimulatedVisit, number: int, found: Simulation
) -> Line:
    words, named = STEPS.get(step.type), told.named(step)
    said = {**visit.result, "reason": visit.reason} if visit.reason else visit.result
    failed = visit.error
    title = words.title(named)
    return Line(
        tone="stop" if failed else "hold" if visit.reason else "go",
        words=str(_("%(step)s: would fail", step=title)) if failed else words.foreseen(named, said),
        key=visit.key,
        number=visit.index + 1,
        arrives=visit.arrives,
        since=visit.arrives - found.visits[0].arrives,
        stay=visit.leaves - visit.arrives,
        rule=None if failed else words.evidence(named, visit.result),
        reason=_reason(visit),
        code=failed.code if failed else "",
        mail=None if visit.mail is None else _mail(visit.mail, number),
    )


def _reason(visit: SimulatedVisit) -> str:
    if visit.error is None:
        return messages.failed(visit.reason, None)
    known = UNFINISHED.get(visit.error.code)
    return messages.failed(visit.error.code, visit.error.message) if known is None else str(known)


def _mail(mail: PreviewedMail, number: int) -> Mail:
    return Mail(
        number,
        mail.to,
        mail.sender,
        mail.subject,
        mail.text,
        bool(mail.html.strip()),
        mail.missing,
        mail.flaw or "",
    )
