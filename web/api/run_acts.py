"""Acts on one run by API: end it, try again, skip the step, move to another."""

from typing import Annotated, ClassVar

from pydantic import Field

from engine.automations import queries, service
from engine.automations.act_judging import CANCEL, MOVE, RETRY, SKIP
from engine.automations.service import RunAct
from engine.core.outcome import Refused, missing
from web.api.door import Answer, Call, Result
from web.api.fields import ById, In, ShortText, example
from web.api.runs import RunDetailOut, area, detail

StepKey = Annotated[str, Field(min_length=1, max_length=60)]


class ActAsk(In):
    """Why, for the record; may be left out, and the body with it."""

    may_be_absent: ClassVar[bool] = True

    reason: ShortText | None = None


class MoveAsk(ActAsk):
    """Where to: the key of a step of the run's own revision."""

    model_config = example(step="welcome")

    step: StepKey


@area.post("/runs/<id>/cancel", "runs:act", {200: RunDetailOut})
def cancel_run(call: Call, path: ById, body: ActAsk) -> Result:
    """End a running run; no further step happens."""
    return _act(call, path, RunAct(CANCEL, reason=body.reason))


@area.post("/runs/<id>/retry", "runs:act", {200: RunDetailOut})
def retry_run(call: Call, path: ById, body: ActAsk) -> Result:
    """Try the failed step again now; a cancelled run goes on from where it broke off."""
    return _act(call, path, RunAct(RETRY, reason=body.reason))


@area.post("/runs/<id>/skip-step", "runs:act", {200: RunDetailOut})
def skip_step_of_run(call: Call, path: ById, body: ActAsk) -> Result:
    """Leave the step out and go on behind it."""
    return _act(call, path, RunAct(SKIP, reason=body.reason))


@area.post("/runs/<id>/move", "runs:act", {200: RunDetailOut})
def move_run(call: Call, path: ById, body: MoveAsk) -> Result:
    """Go on at another step; steps between do not happen."""
    return _act(call, path, RunAct(MOVE, body.step, body.reason))


def _act(call: Call, path: ById, wanted: RunAct) -> Result:
    done = service.act(call.session, call.workspace_id, path.id, wanted, call.actor, call.at)
    if isinstance(done, Refused):
        return done
    call.session.flush()
    found = queries.get_run(call.session, call.workspace_id, path.id)
    return missing("run_not_found") if found is None else Answer(detail(call, found))
