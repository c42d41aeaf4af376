"""From a told document to the stations of the track plan, for an automation and for one run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from flask_babel import gettext as _

from engine.automations.graph import END, GraphStep
from engine.automations.queries import Tally
from web.automations import since
from web.automations.kinds.steps import STEPS
from web.automations.reading import Told
from web.plan import Exit, Insert, PlanRow

# No step can have this key, so its anchor is free (engine.automations.document).
START: Final = "_start"
SETTINGS: Final = "_settings"
Inserts = Mapping[str, tuple[Insert, ...]]
Pass = tuple[int, str | None, int]
"""A piece of way: row, exit by name (None where there is one), row."""


@dataclass(frozen=True)
class Way:
    """How one person went. states: of a station by row; taken: the pieces of way."""

    states: Mapping[int, str]
    taken: frozenset[Pass]


@dataclass(frozen=True)
class People:
    """How many people: in all, and at each step by its key."""

    tally: Tally = field(default_factory=Tally)
    at: Mapping[str, int] = field(default_factory=dict)


def stations(
    told: Told,
    people: People | None = None,
    way: Way | None = None,
    inserts: Inserts | None = None,
) -> tuple[PlanRow, ...]:
    """Return the rows of the plan: trigger, one for each step, buffer stop.

    people: shown on an automation's plan; way: lit on a run's plan; inserts: in the editor, by key.
    """
    steps = told.graph.steps
    titles = ["", *(told.titles[step.key] for step in steps), str(_("End"))]
    start = Exit(1, titles[1], taken=way is not None and (0, None, 1) in way.taken)
    rows = [
        PlanRow(
            START,
            "start",
            told.trigger(),
            exits=(start,),
            count=people.tally.entered if people else None,
            count_word=str(_("entered")) if people else "",
            state=_state(way, 0),
            inserts=(inserts or {}).get(START, ()),
        )
    ]
    arrivals = since.spans(told.graph) if people else {}
    rows += [
        replace(
            _station(told, step, titles, people, way),
            since=since.words(arrivals.get(step.key)),
            inserts=(inserts or {}).get(step.key, ()),
        )
        for step in steps
    ]
    rows.append(
        PlanRow(
            END,
            "end",
            titles[-1],
            count=people.tally.finished if people else None,
            count_word=str(_("finished")) if people else "",
            state=_state(way, len(steps) + 1),
        )
    )
    return tuple(rows)


def _station(
    told: Told, step: GraphStep, titles: list[str], people: People | None, way: Way | None
) -> PlanRow:
    words, named, row = STEPS.get(step.type), told.named(step), step.index + 1
    count = people.at.get(step.key, 0) if people and not step.kind.ends else None
    return PlanRow(
        step.key,
        words.shape,
        titles[row],
        words.note(named),
        tuple(
            Exit(
                target + 1,
                titles[target + 1],
                words.way_out(name) if name else None,
                taken=way is not None and (row, name, target + 1) in way.taken,
            )
            for name, target in _ways(step)
        ),
        count,
        "" if count is None else words.standing(count),
        _state(way, row),
    )


def _ways(step: GraphStep) -> tuple[tuple[str | None, int], ...]:
    if step.kind.ends:
        return ()
    return tuple(step.exits.items()) or ((None, step.after),)


def _state(way: Way | None, row: int) -> str | None:
    return None if way is None else way.states.get(row)
