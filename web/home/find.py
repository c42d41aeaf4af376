"""The search box of the header: whoever is named for certain is opened, everything else listed."""

from flask import Response, request, url_for
from werkzeug.exceptions import BadRequest

from engine.audience import queries as audience
from web import auth, htmx
from web.request import session


@auth.requires("contacts:read")
def find() -> Response:
    """Lead to the person that an address, a customer number or an id names, else to the list."""
    text = request.args.get("q", "").strip()
    if not text:
        raise BadRequest
    found = audience.find_person(session(), auth.person().workspace_id, text)
    if found is not None:
        return htmx.see_other(url_for("people.detail", public_id=found.public_id))
    return htmx.see_other(url_for("people.index", q=text))
