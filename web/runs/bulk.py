"""Acts on many runs: counted and confirmed first, then followed while they are worked off."""

from collections.abc import Mapping
from typing import Any

from flask import Response, flash, request, url_for
from werkzeug.exceptions import BadRequest, NotFound

from engine.accounts import trail
from engine.automations.act_judging import CANCEL, DISMISS, MOVE, RETRY, SKIP
from engine.automations.models.jobs import REFUSED
from engine.automations.queries import jobs
from engine.automations.service import RunAct, bulk
from engine.core.outcome import Recorded, Refused
from web import auth, errors, htmx
from web.audit.messages import who
from web.request import now, session
from web.runs import acts, listing, messages
from web.runs.blueprint import pages
from web.tables import Page

_ACTIONS = (RETRY, SKIP, MOVE, CANCEL, DISMISS)


@pages.get("/bulk")
@auth.requires("runs:act")
def many() -> Response:
    """Show how many runs the filter finds, and what may be done to all of them."""
    return _form(_asked(request.args), request.args.get("action", ""))


@pages.post("/bulk")
@auth.requires("runs:act")
def act_on_many() -> Response:
    """Ask for an act on every run that the filter finds."""
    person, asked = auth.person(), _asked(request.form)
    action, step = request.form.get("action", ""), request.form.get("to", "")
    if action and action not in _ACTIONS:
        raise BadRequest
    if not action or (action == MOVE and not step):
        return _form(asked, action, Refused("action_needed" if not action else "step_needed"))
    act = RunAct(action, step if action == MOVE else None, acts.reason())
    wanted = listing.read(asked, person.timezone)
    done = bulk.ask(session(), person.workspace_id, wanted, act, auth.actor(), now())
    if isinstance(done, Refused):
        return _form(asked, action, done)
    return htmx.see_other(url_for("runs.job", job_id=done.job_id))


@pages.get("/jobs/<job_id>")
@auth.requires("runs:read")
def job(job_id: str) -> Response:
    """Show how far a job is, and what was refused."""
    workspace_id = auth.person().workspace_id
    found = jobs.get_job(session(), workspace_id, job_id)
    if found is None:
        raise NotFound
    after = request.args.get("cursor")
    refused, following = jobs.page_items(session(), workspace_id, found.row_id, REFUSED, after)
    names = trail.names(session(), workspace_id, {found.created_by})
    return htmx.render(
        "runs/job.html",
        "runs/_job.html",
        job=found,
        title=messages.many(found.action),
        fault=messages.refusal(Refused(found.fault)) if found.fault else "",
        by=who(found.created_by, names),
        refused=[(item, messages.refusal(Refused(item.reason or ""))) for item in refused],
        page=Page(following, first=after is None),
    )


@pages.post("/jobs/<job_id>/stop")
@auth.requires("runs:act")
def stop_job(job_id: str) -> Response:
    """Leave alone what the job has not come to."""
    done = bulk.stop(session(), auth.person().workspace_id, job_id, auth.actor(), now())
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        flash(messages.refusal(done), "hold")
    elif isinstance(done, Recorded):
        flash(messages.halted(again=True), "hold")
    else:
        flash(messages.halted(again=False))
    return htmx.see_other(url_for("runs.job", job_id=job_id))


def _asked(given: Mapping[str, str]) -> dict[str, str]:
    return {name: given.get(name, "").strip() for name in listing.FIELDS}


def _form(asked: dict[str, str], action: str, refused: Refused | None = None) -> Response:
    person = auth.person()
    wanted = listing.read(asked, person.timezone)
    choices = listing.choices(session(), person.workspace_id, asked["automation"])
    context: dict[str, Any] = {
        "filter": asked,
        "kept": {name: value for name, value in asked.items() if value},
        "told": listing.told(asked, choices),
        "counted": bulk.count(session(), person.workspace_id, wanted),
        "steps": choices.steps,
        "action": action,
        "wrong": messages.refusal(refused) if refused else "",
    }
    return htmx.render("runs/bulk.html", status=422 if refused else 200, **context)
