"""The pages of the user guide, and the one link to them in the frame of every page."""

from flask import Blueprint, Response, request, url_for
from werkzeug.exceptions import NotFound

from web import auth, htmx
from web.help.topics import TOPICS, topic_of

pages = Blueprint("help", __name__, url_prefix="/help")


@pages.get("")
@auth.open_to_members
def index() -> Response:
    """Show what there is to read."""
    return htmx.render("help/index.html", topics=TOPICS)


@pages.get("/<topic>")
@auth.open_to_members
def page(topic: str) -> Response:
    """Show one page of the guide."""
    if topic not in TOPICS:
        raise NotFound
    return htmx.render(f"help/{topic}.html", topics=TOPICS, name=topic)


@pages.app_template_global()
def help_here() -> str:
    """Return the address of the help for the page one is on; of all help where it has none."""
    topic = topic_of(request.endpoint or "", request.args.get("ask", ""))
    return url_for("help.page", topic=topic) if topic else url_for("help.index")
