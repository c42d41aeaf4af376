"""Chains of automations that start each other: how long one has grown, and where it ends.

The loop cap counts within one run (facts 1.7); two automations that set a property back and forth
would never meet it. An event that a run caused says how many such events led to it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.automations.models import AutomationRun, AutomationStepRun
from engine.core.db import JsonObject, among
from engine.core.events import CAUSE, Cause, Event

# So many events of one person may lead to each other within the time; the next starts nobody. What
# takes an hour or more from one to the next goes on for ever.
LONGEST: Final = 24
WITHIN: Final = timedelta(days=1)
# The reason that a visit keeps whose change started no automation any more.
ENDED: Final = "chain_ended"
_LINKS: Final = "links"
_SINCE: Final = "since"


def causes(session: Session, step_run_ids: Collection[int], at: datetime) -> Mapping[int, Cause]:
    """Return what events are caused by that these visits make happen at `at`, by step run."""
    step, run = AutomationStepRun, AutomationRun
    found = session.execute(
        select(step.id, Event.data)
        .join(run, run.id == step.automation_run_id)
        .join(Event, Event.id == run.event_id)
        .where(among(session, step.id, step_run_ids))
    )
    before = {step_run_id: data.get(CAUSE) for step_run_id, data in found}
    return {each: _following(before.get(each), at) for each in step_run_ids}


def _following(before: JsonObject | None, at: datetime) -> Cause:
    links, since = 1, at
    if before is not None:
        began = datetime.fromisoformat(before[_SINCE])
        if at - began < WITHIN:
            links, since = before[_LINKS] + 1, began
    data = {_LINKS: links, _SINCE: since.isoformat()}
    return Cause(data, starts=links <= LONGEST)
