"""How far people get: for each step who came, and what became of the visit, with its share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask_babel import format_percent

from engine.automations.queries import Figures, StepFigures

FULL: Final = 100


@dataclass(frozen=True)
class Stage:
    """One step of the funnel. title: what it does; its key where the plan no longer has it.

    share: of those who entered, in words; width: of the bar, 0 to 100; failed: something went wrong
    here; left: the run ended around them; skipped: by a person, who had them passed on; detoured:
    took another way and never came; gone: only older revisions had this step.
    """

    key: str
    title: str
    came: int
    share: str
    width: int
    completed: int
    failed: int
    left: int
    skipped: int
    detoured: int
    gone: bool


def stages(figures: Figures, titles: Mapping[str, str]) -> tuple[Stage, ...]:
    """Return the stages of a funnel. titles: what the steps of the plan do, by key.

    A step that the plan no longer has is shown only where somebody ever came.
    """
    return tuple(
        _stage(step, figures.tally.entered, titles.get(step.key))
        for step in figures.steps
        if step.key in titles or step.total
    )


def _stage(step: StepFigures, entered: int, title: str | None) -> Stage:
    share = step.entered / entered if entered else 0.0
    return Stage(
        key=step.key,
        title=step.key if title is None else title,
        came=step.entered,
        share=format_percent(share),
        # Whoever comes twice counts twice, so a loop may have more visits than people.
        width=min(FULL, round(share * FULL)),
        completed=step.completed,
        failed=step.faults,
        left=step.departed,
        skipped=step.passed,
        detoured=step.detoured,
        gone=title is None,
    )
