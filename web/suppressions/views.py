"""The suppression list: look an address up, block one, let one go."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response, flash, request, url_for
from flask_babel import gettext
from flask_babel import lazy_gettext as _
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired, Length

from engine.audience import queries, service
from engine.audience.inputs import CONSOLE
from engine.audience.models import MANUAL
from engine.audience.queries import SuppressionRow
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.forms import Form, trimmed
from web.people.messages import words
from web.people.story import source
from web.request import now, session
from web.suppressions import messages
from web.tables import Page

pages = Blueprint("suppressions", __name__, url_prefix="/suppressions")
_LONGEST: Final = 254
_REASONS: Any = [SelectChoice(code, said) for code, said in messages.REASONS.items()]


class BlockForm(Form):
    """An address to block, and why."""

    email = StringField(
        _("E-mail address"), [InputRequired(), Length(max=_LONGEST)], filters=[trimmed]
    )
    reason = SelectField(_("Reason"), choices=_REASONS, default=MANUAL)


@dataclass(frozen=True)
class Line:
    """A blocked address as the list shows it; reason, stops and source in words."""

    public_id: str
    email: str
    reason: str
    stops: str
    source: str
    since: datetime


@pages.get("")
@auth.requires("contacts:read")
def index() -> Response:
    """Show the list, the newest first, and the form where the role may block."""
    return _show(BlockForm() if auth.may("contacts:manage") else None)


@pages.post("")
@auth.requires("contacts:manage")
def block() -> Response:
    """Block an address."""
    form = BlockForm()
    if not form.validate():
        return _show(form, errors.FORM_REFUSED)
    made = service.suppress(
        session(),
        auth.person().workspace_id,
        form.email.data or "",
        CONSOLE,
        auth.actor(),
        now(),
        form.reason.data or MANUAL,
    )
    if isinstance(made, Refused):
        form.show(made, words)
        return _show(form, errors.FORM_REFUSED)
    flash(gettext("%(email)s is blocked.", email=made.email))
    return htmx.see_other(url_for("suppressions.index"))


@pages.post("/<public_id>/release")
@auth.requires("contacts:manage")
def release(public_id: str) -> Response:
    """Let an address go; mail may go to it again."""
    refused = service.release(session(), auth.person().workspace_id, public_id, auth.actor(), now())
    if refused is not None:
        errors.abort_if_missing(refused)
        flash(words(refused), "stop")
    else:
        flash(gettext("The address is no longer blocked."))
    return htmx.see_other(url_for("suppressions.index"))


def _show(form: BlockForm | None, status: int = 200) -> Response:
    after, asked = request.args.get("cursor"), request.args.get("q", "").strip()
    rows, following = queries.page_suppressions(
        session(), auth.person().workspace_id, q=asked or None, after=after
    )
    return htmx.render(
        "suppressions/list.html",
        status=status,
        blocked=[_line(row) for row in rows],
        q=asked,
        page=Page(following, first=after is None),
        form=form,
    )


def _line(row: SuppressionRow) -> Line:
    return Line(
        row.public_id,
        row.email,
        messages.reason(row.reason),
        messages.stops(row.reason),
        source(row.source),
        row.created_at,
    )
