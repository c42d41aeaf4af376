"""What the first page says: the automations with most people in them, and who moved last."""

from flask import Response

from engine.accounts import queries as accounts
from web import auth, htmx
from web.request import runtime, session


def show() -> Response:
    """Show the first page of a signed-in person."""
    workspace_id = auth.person().workspace_id
    keys, _ = accounts.list_keys(session(), workspace_id, limit=1)
    return htmx.render(
        "home/index.html",
        automations=[],
        more=0,
        latest=[],
        has_key=bool(keys),
        base_url=runtime().settings.base_url,
    )
