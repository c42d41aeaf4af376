"""What a person does to one run from its page: try again, skip, move, end, dismiss."""

from typing import Final

from flask import Response, flash, request, url_for

from engine.automations import service
from engine.automations.act_judging import CANCEL, DISMISS, MOVE, RETRY, SKIP
from engine.automations.service import Done, RunAct
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import reading
from web.request import now, session
from web.runs import blueprint, messages
from web.runs.blueprint import pages

LONGEST_REASON: Final = 200


@pages.post("/<public_id>/retry")
@auth.requires("runs:act")
def retry(public_id: str) -> Response:
    """Try the failed step again now."""
    return _act(public_id, RETRY)


@pages.post("/<public_id>/skip-step")
@auth.requires("runs:act")
def skip_step(public_id: str) -> Response:
    """Leave the step out and go on behind it."""
    return _act(public_id, SKIP)


@pages.post("/<public_id>/move")
@auth.requires("runs:act")
def move(public_id: str) -> Response:
    """Go on at another step."""
    return _act(public_id, MOVE, request.form.get("step", ""))


@pages.post("/<public_id>/cancel")
@auth.requires("runs:act")
def cancel(public_id: str) -> Response:
    """End the run."""
    return _act(public_id, CANCEL)


@pages.post("/<public_id>/dismiss")
@auth.requires("runs:act")
def dismiss(public_id: str) -> Response:
    """Take the run off the list of what needs attention."""
    return _act(public_id, DISMISS)


def reason() -> str | None:
    """Return why somebody acts, as the dialog was told; None where it was left empty."""
    return request.form.get("reason", "").strip()[:LONGEST_REASON] or None


def _act(public_id: str, action: str, step: str | None = None) -> Response:
    place, wanted = auth.person().workspace_id, RunAct(action, step, reason())
    done = service.act(session(), place, public_id, wanted, auth.actor(), now())
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        flash(messages.refusal(done), "hold")
    else:
        flash(messages.did(action, _title(done)))
    return htmx.see_other(url_for("runs.detail", public_id=public_id))


def _title(done: Done) -> str | None:
    """Return the step where the person stands now, in words."""
    if done.step_key is None:
        return None
    place = auth.person().workspace_id
    told = reading.tell(session(), place, blueprint.found(done.run_id).document)
    steps = told.graph.steps if told else ()
    found = next((step for step in steps if step.key == done.step_key), None)
    return told.title(found) if told and found else done.step_key
