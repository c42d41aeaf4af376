"""Runs: the list with every filter in its address, and the log of one run."""

from flask import Response, request

from engine.automations import queries
from web import auth, htmx
from web.request import now, session
from web.runs import blueprint, listing, showing
from web.runs.blueprint import pages
from web.tables import Page


@pages.get("")
@auth.requires("runs:read")
def index() -> Response:
    """Show runs, the newest first."""
    person = auth.person()
    asked = {name: request.args.get(name, "").strip() for name in listing.FIELDS}
    after = request.args.get("cursor")
    wanted = listing.read(asked, person.timezone)
    rows, following = queries.page_runs(session(), person.workspace_id, wanted, after)
    choices = listing.choices(session(), person.workspace_id, asked["automation"])
    return htmx.render(
        "runs/list.html",
        runs=listing.lines(session(), person.workspace_id, rows, now()),
        filter=asked,
        filtered=any(asked.values()),
        act_on={name: value for name, value in asked.items() if value},
        automations=choices.automations,
        steps=choices.steps,
        page=Page(following, first=after is None),
    )


@pages.get("/<public_id>")
@auth.requires("runs:read")
def detail(public_id: str) -> Response:
    """Show what happened to one person in one automation, step by step."""
    workspace_id = auth.person().workspace_id
    found = blueprint.found(public_id)
    return htmx.render("runs/detail.html", **showing.page(session(), workspace_id, found, now()))
