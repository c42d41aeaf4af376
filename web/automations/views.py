"""Automations: the list, one with its plan, and the three buttons that switch it."""

from flask import Blueprint, Response, flash, request, url_for
from werkzeug.exceptions import BadRequest, NotFound

from engine.automations import holding, queries, service
from engine.automations.models import ACTIVE, AUTOMATION_STATUSES, DRAFT, PAUSED
from engine.automations.queries import AutomationDetail
from engine.automations.service import StatusChange, Wish
from engine.core.outcome import Recorded, Refused
from web import auth, errors, htmx
from web.automations import messages, showing
from web.request import now, session
from web.tables import Page

pages = Blueprint("automations", __name__, url_prefix="/automations")
# Somebody else was there first: nothing is wrong with the automation, so the page says no more.
_OVERTAKEN = frozenset({"lost_race", "illegal_edge"})


@pages.get("")
@auth.requires("automations:read")
def index() -> Response:
    """Show the automations, the newest first."""
    workspace_id = auth.person().workspace_id
    chosen = request.args.get("status", "")
    after = request.args.get("cursor")
    rows, following = queries.page_automations(session(), workspace_id, chosen, after)
    counts = queries.status_counts(session(), workspace_id)
    return htmx.render(
        "automations/list.html",
        automations=showing.lines(session(), workspace_id, rows),
        tally={"all": sum(counts.values()), **counts},
        chosen=chosen if chosen in AUTOMATION_STATUSES else "",
        page=Page(following, first=after is None),
    )


@pages.get("/<public_id>")
@auth.requires("automations:read")
def detail(public_id: str) -> Response:
    """Show one automation: its plan, who stands where, and the buttons the role may press."""
    return _show(_found(public_id))


@pages.post("/<public_id>/activate")
@auth.requires("automations:publish")
def activate(public_id: str) -> Response:
    """Put the draft in force."""
    return _switch(public_id, Wish(ACTIVE), DRAFT)


@pages.post("/<public_id>/pause")
@auth.requires("automations:publish")
def pause(public_id: str) -> Response:
    """Stop it: nobody enters; whoever is inside leaves or is held at the next step (A11)."""
    return _switch(public_id, Wish(PAUSED), ACTIVE)


@pages.post("/<public_id>/resume")
@auth.requires("automations:publish")
def resume(public_id: str) -> Response:
    """Let people enter again, with the revision that was in force; held ones go on as chosen."""
    choice = request.form.get("resume") or None
    if choice is not None and choice not in holding.CHOICES:
        raise BadRequest
    wish = Wish(ACTIVE, resume=choice, start_afresh="start_afresh" in request.form)
    return _switch(public_id, wish, PAUSED)


def _switch(public_id: str, wish: Wish, expected: str) -> Response:
    """Ask for a status; only from the one that the pressed dialog spoke of, or from `to` itself."""
    workspace_id = auth.person().workspace_id
    found = _found(public_id)
    answer: StatusChange | Refused = Refused("illegal_edge")
    if found.row.status in {expected, wish.to}:
        answer = service.change_status(
            session(), workspace_id, public_id, wish, auth.actor(), now()
        )
    if isinstance(answer, Refused):
        errors.abort_if_missing(answer)
        if answer.reason not in _OVERTAKEN:
            return _show(found, answer)
        flash(messages.reason(answer), "hold")
    elif isinstance(answer.outcome, Recorded):
        flash(messages.already(answer.outcome.status, found.row.name), "hold")
    else:
        moved = answer.outcome
        flash(messages.done(moved.before, moved.after, answer.told, found.row.name))
    return htmx.see_other(url_for("automations.detail", public_id=public_id))


def _show(found: AutomationDetail, refused: Refused | None = None) -> Response:
    context = showing.page(session(), auth.person().workspace_id, found, now())
    if refused is not None:
        context |= showing.refusal(found, refused)
    return htmx.render(
        "automations/detail.html",
        status=200 if refused is None else errors.status_of(refused),
        may_publish=auth.may("automations:publish"),
        **context,
    )


def _found(public_id: str) -> AutomationDetail:
    found = queries.get_automation(session(), auth.person().workspace_id, public_id)
    if found is None:
        raise NotFound
    return found
