"""The blueprint of people, and what its modules share: find one."""

from flask import Blueprint
from werkzeug.exceptions import NotFound

from engine.audience import queries
from engine.audience.queries import ContactRow
from web import auth
from web.request import session

pages = Blueprint("people", __name__, url_prefix="/people")


def found(public_id: str) -> ContactRow:
    """Return the live person of the reader's workspace; anything else is a page not found."""
    row = queries.get_contact(session(), auth.person().workspace_id, public_id)
    if row is None:
        raise NotFound
    return row
