"""Runs: the list with every filter in its address, and the log of one run."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from flask import Response, request

from engine.accounts import view_rows
from engine.accounts.service.views import MAX_NAME, RUNS
from engine.automations import queries
from web import auth, errors, htmx
from web.request import now, session
from web.runs import blueprint, listing, showing
from web.runs.blueprint import pages
from web.tables import Page


@dataclass(frozen=True)
class Unsaved:
    """A view that could not be saved: the name as it was typed, and why."""

    name: str
    why: str


@pages.get("")
@auth.requires("runs:read")
def index() -> Response:
    """Show runs, the newest first."""
    return show(listing.asked(request.args), request.args.get("cursor"))


def show(asked: Mapping[str, str], after: str | None, unsaved: Unsaved | None = None) -> Response:
    """Return the list. unsaved: a view that could not be saved."""
    person = auth.person()
    wanted = listing.read(asked, person.timezone)
    rows, following = queries.page_runs(session(), person.workspace_id, wanted, after)
    choices = listing.choices(session(), person.workspace_id, asked["automation"])
    saved = view_rows.list_views(session(), person.workspace_id, person.user_id, RUNS)
    spelt = listing.spelt(asked)
    return htmx.render(
        "runs/list.html",
        status=HTTPStatus.OK if unsaved is None else errors.FORM_REFUSED,
        runs=listing.lines(session(), person.workspace_id, rows, now()),
        filter=asked,
        filtered=any(asked.values()),
        act_on={name: value for name, value in asked.items() if value},
        automations=choices.automations,
        steps=choices.steps,
        page=Page(following, first=after is None),
        saved=saved,
        current=next((view for view in saved if view.query == spelt), None),
        unsaved=unsaved,
        longest_name=MAX_NAME,
    )


@pages.get("/<public_id>")
@auth.requires("runs:read")
def detail(public_id: str) -> Response:
    """Show what happened to one person in one automation, step by step."""
    workspace_id = auth.person().workspace_id
    found = blueprint.found(public_id)
    return htmx.render("runs/detail.html", **showing.page(session(), workspace_id, found, now()))
