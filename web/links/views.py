"""The unsubscribe page behind a mail's link: GET shows, POST acts, without cookie and script.

Scanners open links and mail programs post to them (RFC 8058), so nothing but a POST changes
anything, and no form token is asked for: the signature in the address is the right to act.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final, Literal

from flask import Blueprint, Flask, Response, request
from flask_babel import force_locale
from flask_wtf import CSRFProtect

from engine.core import rate
from engine.core.outcome import Refused
from engine.delivery.links import PREVIEW, UnsubscribeToken
from engine.delivery.service import unsubscribing
from web import auth, errors, htmx, i18n
from web.links.making import links
from web.request import enter_workspace, keep, now, runtime, session

pages: Final = Blueprint("links", __name__)
# facts 3.5: so many a minute and client.
LIMIT: Final = 30
_WINDOW: Final = timedelta(minutes=1)
Nobody = Literal["unknown", "gone"]


@dataclass(frozen=True)
class Visit:
    """What a good link leads to."""

    token: UnsubscribeToken
    workspace: unsubscribing.LinkedWorkspace
    person: unsubscribing.LinkedPerson


def register(app: Flask) -> None:
    """Put the doors on the app; CSRF protection must have been registered before."""
    csrf: CSRFProtect = app.extensions["csrf"]
    csrf.exempt(pages)
    app.register_blueprint(pages)


@pages.get("/u/<token>")
@auth.open_to_strangers
def unsubscribe(token: str) -> Response:
    """Show what the link does; changes nothing, however often it is opened."""
    # A page that reads leaves its count in a transaction of its own.
    with runtime().uow.begin() as apart:
        granted = rate.lease(apart, _counted(token), LIMIT, _WINDOW, now())
    _refuse_unless(granted)
    if token == PREVIEW:
        return _show("preview")
    found = _visit(token)
    if not isinstance(found, Visit):
        return _nobody(found)
    return _show("already" if found.person.unsubscribed else "ask", found)


@pages.post("/u/<token>")
@auth.open_to_strangers
def unsubscribe_now(token: str) -> Response:
    """End marketing mail to the person of the link; once more is fine."""
    keep()  # a refused try is counted too
    _refuse_unless(rate.lease(session(), _counted(token), LIMIT, _WINDOW, now()))
    found = _visit(token)
    if not isinstance(found, Visit):
        return _nobody(found)
    done = unsubscribing.unsubscribe_by_link(session(), found.workspace.row_id, found.token, now())
    return _nobody("gone") if isinstance(done, Refused) else _show("done", found)


def _counted(token: str) -> str:
    """Return what a client's tries are counted by.

    A good link counts for itself: a large provider asks for thousands of readers from one address,
    and none of them may be turned away. Made-up links count together.
    """
    link = "" if links().read_unsubscribe(token) is None else token.rpartition(".")[2]
    return f"unsubscribe:{request.remote_addr}:{link}"


def _refuse_unless(granted: int) -> None:
    if not granted:
        errors.too_many(rate.retry_after(_WINDOW, now()))


def _visit(token: str) -> Visit | Nobody:
    """Return what a link leads to, with the session narrowed to its workspace.

    unknown: it was never made here; gone: whom it was made for is not stored any more.
    """
    read = links().read_unsubscribe(token)
    if read is None:
        return "unknown"
    workspace = unsubscribing.linked_workspace(session(), read)
    if workspace is None:
        return "gone"
    # Before anything asks who is signed in: that would narrow the session to another workspace.
    enter_workspace(workspace.row_id)
    person = unsubscribing.linked_person(session(), workspace.row_id, read)
    return "gone" if person is None else Visit(read, workspace, person)


def _nobody(state: Nobody) -> Response:
    return htmx.render("links/unsubscribe.html", status=HTTPStatus.NOT_FOUND, state=state)


def _show(state: str, found: Visit | None = None) -> Response:
    name = "" if found is None else found.workspace.name
    with _tongue(None if found is None else found.person.language):
        return htmx.render("links/unsubscribe.html", state=state, workspace=name)


def _tongue(language: str | None) -> "nullcontext[None] | force_locale":
    """Speak the person's language where the browser says nothing that we speak."""
    spoken = (language or "").partition("-")[0].lower()
    asked = "lang" in request.args or request.accept_languages.best_match(i18n.LANGUAGES)
    if asked or spoken not in i18n.LANGUAGES:
        return nullcontext()
    return force_locale(spoken)
