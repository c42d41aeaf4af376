"""Requests: the list, one with what granting it would do, asking, and the decisions."""

from typing import Any, Final

from flask import Blueprint, Response, flash, request, url_for
from flask_babel import gettext
from werkzeug.exceptions import BadRequest, Forbidden, NotFound

from engine.accounts import approval_rows
from engine.accounts.approval_rows import ApprovalRow, Wanted
from engine.automations import queries
from engine.automations.queries import AutomationDetail
from engine.automations.service import requesting
from engine.automations.service.requesting import KINDS, NEEDS, Request
from engine.core.outcome import Recorded, Refused
from web import auth, errors, htmx
from web.approvals import messages, showing
from web.approvals.showing import Line
from web.automations import blueprint, findings, workplace
from web.automations.asked import KINDS as SHORT
from web.request import now, session
from web.tables import Page

pages = Blueprint("approvals", __name__, url_prefix="/approvals")
# What a list shows, by the word in its address.
_WAITING: Final = "waiting"
_MINE: Final = "mine"
_VIEWS: Final = (_WAITING, "decided", _MINE)


@pages.get("")
@auth.requires("approvals:read")
def index() -> Response:
    """Show requests: those that wait for who decides, one's own for everybody else."""
    workspace_id, after = auth.person().workspace_id, request.args.get("cursor")
    view = request.args.get("view", "")
    if view not in _VIEWS:
        view = _WAITING if auth.may("approvals:act") else _MINE
    rows, following = approval_rows.page_approvals(session(), workspace_id, _wanted(view), after)
    return htmx.render(
        "approvals/list.html",
        requests=showing.lines(session(), workspace_id, rows, auth.actor().name),
        view=view,
        said=messages.waiting(approval_rows.pending_count(session(), workspace_id)),
        page=Page(following, first=after is None),
    )


@pages.post("")
@auth.requires("approvals:manage")
def create() -> Response:
    """Ask for something to be done with an automation by somebody who may."""
    kind, public_id = request.form.get("kind", ""), request.form.get("automation", "")
    if kind not in KINDS:
        raise BadRequest
    found = blueprint.found(public_id)
    wanted = Request(
        kind,
        request.form.get("people_inside") or None,
        request.form.get("note"),
        workplace.seen_version() if request.form.get("version") else None,
    )
    asked = requesting.ask_for(
        session(), auth.person().workspace_id, public_id, wanted, auth.actor(), now()
    )
    if isinstance(asked, Refused) and asked.reason != "already_asked":
        return _ask_again(found, wanted, asked)
    if isinstance(asked, Refused):
        # Its page names the request that waits, who asked and when.
        flash(gettext("This has been asked for already and waits for a decision."), "hold")
    else:
        flash(gettext("Asked for approval. Owners and admins find it under “Requests”."))
    return htmx.see_other(url_for("automations.detail", public_id=public_id))


@pages.get("/<public_id>")
@auth.requires("approvals:read")
def detail(public_id: str) -> Response:
    """Show a request and, while it waits, what granting it would do."""
    return _show(_found(public_id))


@pages.post("/<public_id>/grant")
@auth.requires("approvals:act")
def grant(public_id: str) -> Response:
    """Do what was asked for, as the person who grants it."""
    seen = _found(public_id)
    if not auth.may(NEEDS[seen.kind]):
        raise Forbidden
    answer = request.form.get("answer")
    done = requesting.grant(
        session(), auth.person().workspace_id, public_id, answer, auth.actor(), now()
    )
    if isinstance(done, Refused):
        return _refused(public_id, done, messages.kept_waiting(done))
    if done.deed is None:
        return _too_late(public_id)
    flash(messages.granted(done.deed, _line(seen).name))
    return htmx.see_other(url_for("approvals.detail", public_id=public_id))


@pages.post("/<public_id>/deny")
@auth.requires("approvals:act")
def deny(public_id: str) -> Response:
    """Say no; nothing happens to the automation."""
    answer = request.form.get("answer")
    done = requesting.deny(
        session(), auth.person().workspace_id, public_id, answer, auth.actor(), now()
    )
    if isinstance(done, Refused):
        return _refused(public_id, done, messages.words(done))
    if isinstance(done, Recorded):
        return _too_late(public_id)
    flash(gettext("Denied. The automation is as it was."))
    return htmx.see_other(url_for("approvals.detail", public_id=public_id))


@pages.post("/<public_id>/withdraw")
@auth.requires("approvals:manage")
def withdraw(public_id: str) -> Response:
    """Take back a request of one's own."""
    workspace_id = auth.person().workspace_id
    done = requesting.withdraw(session(), workspace_id, public_id, auth.actor(), now())
    if isinstance(done, Refused):
        return _refused(public_id, done, messages.words(done))
    if isinstance(done, Recorded):
        return _too_late(public_id)
    flash(gettext("You took the request back."))
    return htmx.see_other(url_for("approvals.detail", public_id=public_id))


def _wanted(view: str) -> Wanted:
    if view == _MINE:
        return Wanted(asked_by=auth.actor().name)
    return Wanted(decided=view != _WAITING)


def _found(public_id: str) -> ApprovalRow:
    row = approval_rows.get_approval(session(), auth.person().workspace_id, public_id)
    if row is None:
        raise NotFound
    return row


def _line(row: ApprovalRow) -> Line:
    [line] = showing.lines(session(), auth.person().workspace_id, [row], auth.actor().name)
    return line


def _ask_again(found: AutomationDetail, wanted: Request, refused: Refused) -> Response:
    """Say why nothing was asked for, and show the form anew with what was typed."""
    errors.abort_if_missing(refused)
    # Where the sentence says it all there is no list of findings.
    listed = refused.reason in {"check_failed", "invalid_document"}
    return htmx.render(
        "approvals/ask.html",
        status=errors.status_of(refused),
        automation=found.row,
        wanted=wanted,
        kind=SHORT[wanted.kind],
        refused=messages.words(refused),
        problems=findings.refusal(found, refused)["problems"] if listed else (),
    )


def _refused(public_id: str, refused: Refused, said: str) -> Response:
    """Show the request as it stands now, with why nothing was done and what was typed."""
    errors.abort_if_missing(refused)
    row = _found(public_id)
    if not row.pending:
        said = _decided(row)
    return _show(row, said, errors.status_of(refused))


def _too_late(public_id: str) -> Response:
    """Say who was faster, be it this person in another tab; nothing was done again."""
    flash(_decided(_found(public_id)), "hold")
    return htmx.see_other(url_for("approvals.detail", public_id=public_id))


def _decided(row: ApprovalRow) -> str:
    return messages.decided(row.status, _line(row).decided_by, showing.at_words(row.decided_at))


def _show(row: ApprovalRow, refused: str = "", status: int = 200) -> Response:
    workspace_id, line = auth.person().workspace_id, _line(row)
    found = queries.get_automation(session(), workspace_id, row.resource_id)
    context: dict[str, Any] = {"automation": None if found is None else found.row}
    if found is not None and row.pending:
        context |= showing.prospect(session(), workspace_id, found, line, now())
    return htmx.render(
        "approvals/detail.html",
        status=status,
        asked=line,
        refused=refused,
        answer=request.form.get("answer", ""),
        may_grant=auth.may("approvals:act") and auth.may(NEEDS[row.kind]),
        may_deny=auth.may("approvals:act"),
        may_withdraw=line.mine and auth.may("approvals:manage"),
        **context,
    )
