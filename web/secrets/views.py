"""Secrets that outbound calls need: list, store (a random one is shown once), delete."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response, flash, request, url_for
from flask_babel import gettext
from flask_babel import lazy_gettext as _
from wtforms import PasswordField, RadioField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired, Length

from engine.accounts import secret_rows, trail
from engine.accounts.secret_rows import SecretLine
from engine.accounts.service import secrets as service
from engine.accounts.service.secrets import ADDRESS, MAX_NAME, SIGNING
from engine.automations.queries.using import using
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.forms import Form, trimmed
from web.request import now, session
from web.secrets import fresh
from web.secrets.messages import words

pages = Blueprint("secrets", __name__, url_prefix="/secrets")
_KINDS: Final[Any] = [
    SelectChoice(SIGNING, _("It signs webhooks")),
    SelectChoice(ADDRESS, _("It is an address, for example of the incoming webhook of a channel")),
]
_SHOWN: Final[Any] = {SIGNING: _("Signs webhooks"), ADDRESS: _("Is an address")}


class SecretForm(Form):
    """Name, kind and value of a new secret."""

    name = StringField(_("Name"), [InputRequired(), Length(max=MAX_NAME)], filters=[trimmed])
    kind = RadioField(_("What it is for"), choices=_KINDS, default=SIGNING)
    value = PasswordField(_("Value"), [Length(max=service.LONGEST)], filters=[trimmed])


@dataclass(frozen=True)
class SecretRow:
    """A secret as the list shows it; kind and created_by in words."""

    public_id: str
    name: str
    kind: str
    hint: str
    created: datetime
    created_by: str
    last_used: datetime | None


@pages.get("")
@auth.requires("secrets:read")
def index() -> Response:
    """Show the secrets of the workspace, and the form where the role may store one."""
    if not auth.may("secrets:manage"):
        return _show(None)
    return _show(SecretForm(), value=fresh.take(session(), auth.person().workspace_id, now()))


@pages.post("")
@auth.requires("secrets:manage")
def create() -> Response:
    """Store a secret; a random value is shown on the next page, once."""
    form = SecretForm()
    if not form.validate():
        return _show(form, status=errors.FORM_REFUSED)
    kind, given = form.kind.data, form.value.data or None
    number = None
    if given is None and kind == SIGNING:
        given, number = fresh.make()
    name, workspace_id = form.name.data or "", auth.person().workspace_id
    made = service.create_secret(session(), workspace_id, name, kind, given, auth.actor(), now())
    if isinstance(made, Refused):
        form.show(made, words)
        return _show(form, status=errors.FORM_REFUSED)
    if number is not None:
        fresh.announce(number, made.public_id, now())
    else:
        flash(gettext("The secret is stored. It is not shown again."))
    return htmx.see_other(url_for("secrets.index"))


@pages.post("/<public_id>/delete")
@auth.requires("secrets:manage")
def delete(public_id: str) -> Response:
    """Delete a secret; steps that need it fail from now on."""
    workspace_id = auth.person().workspace_id
    refused = service.delete_secret(session(), workspace_id, public_id, auth.actor(), now())
    if refused is not None:
        errors.abort_if_missing(refused)
        flash(words(refused), "stop")
    else:
        flash(gettext("The secret is deleted."))
    return htmx.see_other(url_for("secrets.index"))


def _show(form: SecretForm | None, value: str | None = None, status: int = 200) -> Response:
    workspace_id = auth.person().workspace_id
    lines = secret_rows.list_secrets(session(), workspace_id)
    names = trail.names(session(), workspace_id, {line.created_by for line in lines})
    asked = request.args.get("ask", "").removeprefix("delete-")
    rows = [_row(line, names.get(line.created_by, line.created_by)) for line in lines]
    asking = next((row for row in rows if row.public_id == asked), None) if form else None
    named = using(session(), workspace_id, asked) if asking else ()
    uses = list(dict.fromkeys(use.name for use in named))
    return htmx.render(
        "secrets/list.html",
        status=status,
        secrets=rows,
        asking=asking,
        uses=uses,
        form=form,
        fresh=value,
        may_manage=auth.may("secrets:manage"),
    )


def _row(line: SecretLine, created_by: str) -> SecretRow:
    return SecretRow(
        line.public_id,
        line.name,
        str(_SHOWN.get(line.kind, line.kind)),
        line.hint,
        line.created_at,
        created_by,
        line.last_used_at,
    )
