"""The workspace's API keys: list, create (the next page shows the secret once), revoke."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response, flash, request, url_for
from flask_babel import gettext
from flask_babel import lazy_gettext as _
from wtforms import SelectMultipleField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired, Length

from engine.accounts import queries, service, trail
from engine.accounts.permissions import FULL
from engine.accounts.queries import KeyLine
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.accounts import fresh
from web.accounts.messages import SCOPES, words
from web.api import routes
from web.forms import Form, trimmed
from web.request import now, session
from web.tables import Page

pages = Blueprint("api_keys", __name__, url_prefix="/api-keys")
# Only what has a door: a scope that nothing asks for would promise something.
# The published types still ask for pairs, which the library itself has given up.
_CHOICES: Any = [
    SelectChoice(scope, SCOPES.get(scope, scope)) for scope in (FULL, *sorted(routes.scopes()))
]
# What most keys are for: a product that reports events.
_USUAL: Final = ("events:write",)


class KeyForm(Form):
    """Name and scopes of a new key."""

    name = StringField(_("Name"), [InputRequired(), Length(max=200)], filters=[trimmed])
    scopes = SelectMultipleField(_("Scopes"), [InputRequired()], choices=_CHOICES, default=_USUAL)


@dataclass(frozen=True)
class KeyRow:
    """A key as the list shows it; created_by in words."""

    public_id: str
    name: str
    prefix: str
    scopes: Sequence[str]
    created: datetime
    created_by: str
    last_used: datetime | None
    revoked_at: datetime | None


@pages.get("")
@auth.requires("api-keys:read")
def index() -> Response:
    """Show the keys of the workspace, and the form where the role may create one."""
    if not auth.may("api-keys:manage"):
        return _show(None)
    return _show(KeyForm(), secret=fresh.take(session(), auth.person().workspace_id, now()))


@pages.post("")
@auth.requires("api-keys:manage")
def create() -> Response:
    """Create a key; the list shows its secret once, so that a reload creates no other."""
    form = KeyForm()
    if not form.validate():
        return _show(form, status=errors.FORM_REFUSED)
    workspace_id = auth.person().workspace_id
    name, scopes = form.name.data or "", form.scopes.data or []
    secret, number = fresh.make()
    made = service.create_key(
        session(), workspace_id, name, scopes, auth.actor(), now(), value=secret
    )
    if isinstance(made, Refused):
        form.show(made, words)
        return _show(form, status=errors.FORM_REFUSED)
    fresh.announce(number, now())
    return htmx.see_other(url_for("api_keys.index"))


@pages.post("/<public_id>/revoke")
@auth.requires("api-keys:manage")
def revoke(public_id: str) -> Response:
    """Revoke a key; programs that use it are refused from the next request on."""
    workspace_id = auth.person().workspace_id
    done = service.revoke_key(session(), workspace_id, public_id, auth.actor(), now())
    if isinstance(done, Refused):
        errors.abort_if_missing(done)
        flash(words(done), "stop")
    else:
        flash(gettext("The key is revoked."))
    return htmx.see_other(url_for("api_keys.index"))


def _show(form: KeyForm | None, secret: str | None = None, status: int = 200) -> Response:
    workspace_id = auth.person().workspace_id
    after = request.args.get("cursor")
    lines, following = queries.list_keys(session(), workspace_id, after)
    names = trail.names(session(), workspace_id, {line.created_by for line in lines})
    return htmx.render(
        "api_keys/list.html",
        status=status,
        keys=[_row(line, names.get(line.created_by, line.created_by)) for line in lines],
        page=Page(following, first=after is None),
        form=form,
        fresh=secret,
        may_manage=auth.may("api-keys:manage"),
    )


def _row(line: KeyLine, created_by: str) -> KeyRow:
    return KeyRow(
        line.public_id,
        line.name,
        line.prefix,
        line.scopes,
        line.created_at,
        created_by,
        line.last_used_at,
        line.revoked_at,
    )
