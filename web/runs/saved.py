"""Views of the list of runs: keep the filters under a name, one's own alone."""

from flask import Response, flash, request, url_for
from flask_babel import gettext

from engine.accounts.service import views as service
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.request import now, session
from web.runs import listing, messages, views
from web.runs.blueprint import pages
from web.runs.views import Unsaved


@pages.get("/views")
@auth.requires("runs:read")
def views_of_runs() -> Response:
    """Lead on to the list: where saving was refused, its page stands at this address."""
    return htmx.see_other(_address(request.query_string.decode("ascii", "replace")))


@pages.post("/views")
@auth.requires("runs:read")
def save_view() -> Response:
    """Keep the filters that were sent along under a name; an old view of that name is replaced."""
    person, asked = auth.person(), listing.asked(request.form)
    name = request.form.get("name", "")
    query = listing.spelt(asked)
    done = service.save_view(
        session(), person.workspace_id, person.user_id, service.RUNS, name, query, now()
    )
    if isinstance(done, Refused):
        return views.show(asked, None, Unsaved(name, messages.refusal(done)))
    if done.replaced:
        flash(
            gettext("“%(name)s” now keeps these filters in place of its old ones.", name=done.name)
        )
    else:
        flash(gettext("The view “%(name)s” is saved.", name=done.name))
    return htmx.see_other(_address(query))


@pages.post("/views/<view_id>/delete")
@auth.requires("runs:read")
def delete_view(view_id: str) -> Response:
    """Delete a view; its filters still stand on the page that follows."""
    person = auth.person()
    gone = service.delete_view(session(), person.workspace_id, person.user_id, view_id)
    if isinstance(gone, Refused):
        errors.abort_if_missing(gone)
        raise ValueError(gone.reason)
    flash(
        gettext(
            "The view “%(name)s” is deleted. Its filters are still set here: save them again to "
            "have it back.",
            name=gone.name,
        )
    )
    return htmx.see_other(_address(gone.query))


def _address(query: str) -> str:
    return f"{url_for('runs.index')}?{query}"
