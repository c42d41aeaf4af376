"""Simulate: somebody's way through a document on a virtual clock (architecture 6).

Reads only: nothing is written, nothing is sent, no socket is opened. What a step would do says its
foresight; where it leads says the graph, as for a real run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy.orm import Session

from engine.automations.document import Document
from engine.automations.graph import GraphStep
from engine.automations.kinds.foresight import FORESIGHT
from engine.automations.kinds.foresight.base import Foreseen, Scene
from engine.automations.kinds.steps.base import Failed
from engine.automations.kinds.triggers import TRIGGERS
from engine.automations.run_lifecycle import FINISHED, LOOP_CAP, MAX_STEPS_PER_RUN, STEP_FAILED
from engine.automations.somebody import Somebody
from engine.core.db import JsonObject
from engine.core.events import NewEvent
from engine.delivery.links import Links
from engine.delivery.service import Kept, PreviewedMail

NO_DURATION: Final = Failed("DELAY_WITHOUT_DURATION", "The wait has no length")


@dataclass(frozen=True)
class Trial:
    """What to try out. automation: public id; at: when the person would enter.

    trigger: as `trigger_data` answers it, or as a run kept it. choices: outcome by step key; one
    that its step does not know counts for nothing.
    """

    automation: str
    document: Document
    who: Somebody
    at: datetime
    trigger: JsonObject = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SimulatedVisit:
    """One station of the way. arrives, leaves: on the virtual clock; result, reason: as a run
    keeps them; error: the run would end here; choices: outcomes one may choose, taken: which."""

    index: int
    key: str
    type: str
    arrives: datetime
    leaves: datetime
    branch: str | None
    result: JsonObject
    reason: str | None
    mail: PreviewedMail | None
    error: Failed | None
    choices: Sequence[str] = ()
    taken: str | None = None


@dataclass(frozen=True)
class Simulation:
    """The way and its end. ended: finished, step_failed or loop_cap.

    total: from entering to the end; after: the person as the steps left them.
    """

    visits: tuple[SimulatedVisit, ...]
    ended: str
    total: timedelta
    after: Somebody


def trigger_data(
    document: Document, properties: Mapping[str, Any] | None, at: datetime
) -> JsonObject:
    """Return what a run of this trigger would keep of its event (facts 1.2).

    properties: of the event, for triggers whose events bear any; None where it has none.
    """
    kind = TRIGGERS.get(document.trigger_type)
    config = kind.Config.model_validate(document.trigger_config)
    data = {} if properties is None else {"event_properties": dict(properties)}
    name = kind.event_name(config)
    event = NewEvent(0, 0, kind.listens_to, "simulation", at, name, data)
    return dict(kind.data(config, event) or {})


def simulate(session: Session, workspace_id: int, trial: Trial, links: Links) -> Simulation:
    """Return the way of `trial.who` through the document, without any effect.

    A bounded number of statements for each step that is visited; at most as many steps as a run
    may have (facts 1.7).
    """
    graph, who, now = trial.document.graph, trial.who, trial.at
    visits: list[SimulatedVisit] = []
    kept = Kept()
    here = graph.at(0)
    while here is not None:
        if len(visits) >= MAX_STEPS_PER_RUN:
            return Simulation(tuple(visits), LOOP_CAP, now - trial.at, who)
        due = _due(here, now)
        if due is None:
            visits.append(_visit(here, now, now, Foreseen(failed=NO_DURATION), None))
            return Simulation(tuple(visits), STEP_FAILED, now - trial.at, who)
        choice = _choice(here, trial.choices)
        scene = Scene(
            session, workspace_id, trial.automation, here.key, now, due, who, trial.trigger,
            choice, links, kept,
        )  # fmt: skip
        foreseen = FORESIGHT.get(here.type).foresee(scene, here.config)
        visits.append(_visit(here, now, due, foreseen, choice))
        now, who = visits[-1].leaves, foreseen.who or who
        if foreseen.failed is not None:
            return Simulation(tuple(visits), STEP_FAILED, now - trial.at, who)
        here = graph.at(graph.following(here.index, foreseen.branch))
    return Simulation(tuple(visits), FINISHED, now - trial.at, who)


def _due(step: GraphStep, now: datetime) -> datetime | None:
    """Return when the step would be executed; None for a wait that is not finished yet."""
    try:
        return now + step.kind.entry_delay(step.config)
    except (ValueError, OverflowError):
        return None


def _choice(step: GraphStep, choices: Mapping[str, str]) -> str | None:
    known = FORESIGHT.get(step.type).choices(step.config)
    chosen = choices.get(step.key)
    return chosen if chosen in known else None


def _visit(
    step: GraphStep, arrived: datetime, due: datetime, foreseen: Foreseen, choice: str | None
) -> SimulatedVisit:
    known = FORESIGHT.get(step.type).choices(step.config)
    return SimulatedVisit(
        step.index,
        step.key,
        step.type,
        arrived,
        foreseen.until or due,
        foreseen.branch,
        foreseen.result or {},
        foreseen.reason,
        foreseen.mail,
        foreseen.failed,
        known,
        choice or next(iter(known), None),
    )
