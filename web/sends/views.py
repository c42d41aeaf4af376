"""Mails: the outbox, one mail as it was sent, and its HTML in a page of its own."""

from typing import Final

from flask import Blueprint, Response, make_response, request
from werkzeug.exceptions import NotFound

from engine.delivery import queries
from engine.delivery.queries import SendDetail
from web import auth, htmx
from web.request import session
from web.sends import showing
from web.tables import Page

pages = Blueprint("sends", __name__, url_prefix="/sends")
# A mail is foreign text: it runs no script, loads nothing, submits nothing, and knows no origin.
# Its styles stand in its tags, since mail programs read no others.
MAIL_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
        "sandbox",
    )
)


@pages.get("")
@auth.requires("sends:read")
def index() -> Response:
    """Show the mails, the newest first."""
    workspace_id = auth.person().workspace_id
    asked = {name: request.args.get(name, "").strip() for name in showing.FIELDS}
    after = request.args.get("cursor")
    lines, following = showing.outbox(session(), workspace_id, asked, after)
    return htmx.render(
        "sends/outbox.html",
        sends=lines,
        filter=asked,
        filtered=any(asked.values()),
        page=Page(following, first=after is None),
    )


@pages.get("/<public_id>")
@auth.requires("sends:read")
def detail(public_id: str) -> Response:
    """Show one mail: what became of it, text, headers, and its HTML in a frame."""
    workspace_id = auth.person().workspace_id
    return htmx.render(
        "sends/detail.html", **showing.page(session(), workspace_id, _found(public_id))
    )


@pages.get("/<public_id>/body")
@auth.requires("sends:read")
def body(public_id: str) -> Response:
    """Show nothing but the HTML of a mail, shut in by a policy of its own."""
    found = _found(public_id)
    if found.message is None or not found.message.html.strip():
        raise NotFound
    answer = make_response(found.message.html)
    answer.headers["Content-Security-Policy"] = MAIL_POLICY
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _found(public_id: str) -> SendDetail:
    found = queries.get_send(session(), auth.person().workspace_id, public_id)
    if found is None:
        raise NotFound
    return found
