"""The first page, the search box of the header, and the language of the session."""

from flask import Blueprint, Response, request, url_for
from werkzeug.exceptions import BadRequest

from web import auth, htmx, i18n
from web.accounts import sign_in
from web.home import overview

pages = Blueprint("home", __name__)


@pages.route("/", methods=["GET", "POST"])
@auth.open_to_strangers
def index() -> Response:
    """Show what moves; to a stranger the sign-in form, which posts to this same address."""
    if request.method == "POST":
        return sign_in.attempt()
    if auth.signed_in_person() is None:
        return sign_in.show()
    return overview.show()


@pages.post("/language")
@auth.open_to_strangers
def language() -> Response:
    """Let this session speak another language; the person's own choice stays as it is."""
    if not i18n.choose(request.form.get("language", "")):
        raise BadRequest
    return htmx.see_other(auth.local_path(request.form.get("next")) or url_for("home.index"))
