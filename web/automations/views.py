"""Automations: the list, a new one, one with its plan or editor, and its check."""

from flask import Response, flash, make_response, render_template, request, url_for
from flask_babel import gettext
from werkzeug.exceptions import NotFound

from engine.automations import queries, service
from engine.automations.models import AUTOMATION_STATUSES
from engine.core.outcome import Problem, Refused
from web import auth, errors, htmx, shell
from web.automations import (
    blueprint,
    drafts,
    findings,
    matching,
    messages,
    panels,
    showing,
    workplace,
)
from web.automations.blueprint import pages
from web.automations.drafts import Draft
from web.automations.kinds.base import Choices
from web.automations.kinds.step_forms import STEP_FORMS
from web.automations.kinds.trigger_forms import TRIGGER_FORMS
from web.automations.settings import NewForm
from web.automations.track import START
from web.request import now, session
from web.tables import Page


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


@pages.route("/new", methods=["GET", "POST"])
@auth.requires("automations:manage")
def new() -> Response:
    """Ask for name and kind of trigger; then open the draft at its trigger."""
    form = NewForm()
    if request.method != "POST":
        return htmx.render("automations/new.html", form=form, kinds=list(TRIGGER_FORMS.items()))
    if not form.validate():
        return _refused(form)
    workspace_id = auth.person().workspace_id
    done = service.create(session(), workspace_id, form.document(), auth.actor(), now())
    if isinstance(done, Refused):
        form.show(done, _words)
        return _refused(form)
    flash(gettext("Draft created. Say what starts it, then insert steps."))
    return htmx.see_other(url_for("automations.detail", public_id=done.public_id, step=START))


@pages.get("/<public_id>")
@auth.requires("automations:read")
def detail(public_id: str) -> Response:
    """Show one automation: the editor of its draft, or, read-only, what is in force."""
    workspace_id = auth.person().workspace_id
    if blueprint.edits() and workplace.wants_rail():
        draft = drafts.load(session(), workspace_id, public_id)
        panel = panels.asked(session(), workspace_id, draft, request.args) if draft else None
        if draft is not None and panel is not None:
            return workplace.show(draft, panel)
    answer = blueprint.show(blueprint.found(public_id))
    if workplace.wants_rail():
        # The address asks for nothing that stands in the rail: the step is gone, for example.
        answer.headers["HX-Retarget"] = "#work"
    return answer


@pages.get("/<public_id>/check")
@auth.requires("automations:read")
def check(public_id: str) -> Response:
    """Show what would fail for certain if the draft went live, and what may go wrong."""
    found = blueprint.found(public_id)
    context = findings.check(session(), auth.person().workspace_id, found)
    return htmx.render("automations/check.html", "automations/_check.html", **context)


@pages.get("/<public_id>/matches")
@auth.requires("automations:manage")
def matches(public_id: str) -> Response:
    """Show how many people fulfil the rule in the address now."""
    found = _draft(public_id)
    workspace_id = auth.person().workspace_id
    context = matching.read(session(), workspace_id, request.args)
    if htmx.wants_fragment():
        shell.frameless()
    return htmx.render(
        "automations/matches.html", "automations/_matches.html", automation=found, **context
    )


@pages.get("/<public_id>/steps/<key>/sentence")
@auth.requires("automations:manage")
def sentence(public_id: str, key: str) -> Response:
    """Show what the form in the address comes to for whoever arrives at the step now."""
    draft = _draft(public_id)
    step = draft.step(key)
    if step is None:
        raise NotFound
    kind = STEP_FORMS.get(step["type"])
    form = kind.fill(step["config"], Choices(), request.args)
    shell.frameless()
    panel = {"sentence": kind.sentence(kind.read(form), now())}
    return make_response(render_template("automations/_sentence.html", panel=panel))


def _draft(public_id: str) -> Draft:
    draft = drafts.load(session(), auth.person().workspace_id, public_id)
    if draft is None:
        raise NotFound
    return draft


def _refused(form: NewForm) -> Response:
    kinds = list(TRIGGER_FORMS.items())
    return htmx.render("automations/new.html", status=errors.FORM_REFUSED, form=form, kinds=kinds)


def _words(refused: Problem | Refused) -> str:
    if isinstance(refused, Problem):
        return messages.problem(refused)
    return messages.reason(refused)
