"""People: the list, the search box of the header, and one person's page."""

from typing import Final

from flask import Response, request, url_for

from engine.audience import queries
from engine.delivery import queries as delivery
from web import auth, htmx
from web.people import showing
from web.people.blueprint import found, pages
from web.request import now, session
from web.tables import Page

# So many are offered while somebody types.
_PICKED: Final = 8


@pages.get("")
@auth.requires("contacts:read")
def index() -> Response:
    """Show everybody the workspace knows, the newest first."""
    return _list(request.args.get("q", "").strip())


@pages.get("/find")
@auth.requires("contacts:read")
def find() -> Response:
    """Lead to the person or the mail that a whole address, number or message id names.

    A text that names nobody is looked for in names and addresses.
    """
    workspace_id = auth.person().workspace_id
    text = request.args.get("q", "").strip()
    person = queries.find_person(session(), workspace_id, text) if text else None
    if person is not None:
        return htmx.see_other(url_for("people.detail", public_id=person.public_id))
    sends, _following = (
        delivery.page_sends(session(), workspace_id, message_id=text, limit=1) if text else ([], "")
    )
    if sends:
        return htmx.see_other(url_for("sends.detail", public_id=sends[0].public_id))
    return _list(text)


@pages.get("/pick")
@auth.requires("contacts:read")
def choose() -> Response:
    """Offer people whose address, name or number begins as typed, as options of a list.

    contact: as q, for a field of that name.
    """
    text = (request.args.get("q") or request.args.get("contact", "")).strip()
    workspace_id = auth.person().workspace_id
    found, _following = (
        queries.page_contacts(session(), workspace_id, q=text, limit=_PICKED) if text else ([], "")
    )
    return htmx.render("people/_pick.html", people=found)


@pages.get("/<public_id>")
@auth.requires("contacts:read")
def detail(public_id: str) -> Response:
    """Show one person: what happened, which automations, properties, topics."""
    row, after = found(public_id), request.args.get("cursor")
    return htmx.render(
        "people/detail.html",
        **showing.page(session(), auth.person().workspace_id, row, after, now()),
    )


def _list(text: str) -> Response:
    workspace_id = auth.person().workspace_id
    after = request.args.get("cursor")
    rows, following = queries.page_contacts(session(), workspace_id, q=text or None, after=after)
    return htmx.render(
        "people/list.html",
        people=showing.lines(session(), workspace_id, rows),
        q=text,
        page=Page(following, first=after is None),
    )
