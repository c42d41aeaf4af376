"""Pages and their fragments: one address, one view; the HX-Request header decides which is sent.

Every answer says `Vary: HX-Request`, so that no cache and no Back button shows a bare fragment.
"""

from typing import Any, cast

from flask import Flask, Response, make_response, redirect, render_template
from htmx_flask import Htmx
from htmx_flask import make_response as make_htmx_response
from htmx_flask import request as htmx_request


def register(app: Flask) -> None:
    """Make `request.htmx` known, and let every answer vary by it."""
    Htmx(app)
    app.after_request(_vary)


def wants_fragment() -> bool:
    """Whether htmx asks for a part of the page (not for a whole one by boost or history)."""
    htmx = htmx_request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def render(
    template: str, fragment: str | None = None, /, status: int = 200, **context: Any
) -> Response:
    """Return the page, or its fragment when htmx asks for one. Both get the same context."""
    template = fragment if fragment and wants_fragment() else template
    return make_response(render_template(template, **context), status)


def see_other(url: str) -> Response:
    """Send the reader to another page after a form: 303, or HX-Redirect for htmx."""
    if wants_fragment():
        return cast(Response, make_htmx_response("", 204, redirect=url))
    return cast(Response, redirect(url, 303))


def _vary(response: Response) -> Response:
    response.vary.add("HX-Request")
    return response
