"""The pages of the gallery: texts to begin with, looked at before anything is made of them."""

from flask import Response, request
from flask_babel import get_locale
from werkzeug.exceptions import NotFound

from web import auth, htmx
from web.request import now, session
from web.templates import gallery, showing
from web.templates.gallery import LANGUAGES, Starter
from web.templates.views import framed, pages


@pages.get("/gallery")
@auth.requires("templates:read")
def browse() -> Response:
    """Show the texts of a language, and one of them as a sample person would get it."""
    shelf = gallery.shelf(_language())
    chosen = _chosen()
    return htmx.render(
        "templates/gallery.html",
        starters=shelf,
        chosen=chosen,
        languages=LANGUAGES,
        shown=showing.look(session(), auth.person().workspace_id, chosen.given, "", now()),
    )


@pages.get("/gallery/body")
@auth.requires("templates:read")
def gallery_body() -> Response:
    """Show nothing but the HTML of a text of the gallery, for a sample person."""
    return framed(_chosen().given)


def _language() -> str:
    """Return the language of the shelf: the one asked for, else the reader's own."""
    asked = request.args.get("language", "")
    own = getattr(get_locale(), "language", "")
    return next((each for each in (asked, own) if each in LANGUAGES), next(iter(LANGUAGES)))


def _chosen() -> Starter:
    """Return the text that was asked for, the first of the shelf where none was."""
    if "text" not in request.args:
        return gallery.shelf(_language())[0]
    found = gallery.find(_language(), request.args["text"])
    if found is None:
        raise NotFound
    return found
