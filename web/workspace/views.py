"""The page of the workspace's settings; a shorter retention says what it deletes before it does."""

from datetime import timedelta
from typing import Any, Final

from flask import Blueprint, Response, flash, url_for
from flask_babel import format_decimal, gettext
from flask_babel import lazy_gettext as _
from wtforms import BooleanField, IntegerField, SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired, Optional

from engine.accounts import queries, service
from engine.accounts.queries import WorkspaceSettings
from engine.accounts.service import Limits
from engine.automations import pruning
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.forms import Form, trimmed
from web.request import now, session
from web.workspace.messages import words

pages = Blueprint("workspace", __name__, url_prefix="/workspace")
# Beyond this many runs the page only says that there are more.
MOST_COUNTED: Final = 10_000
# The published types still ask for pairs, which the library itself has given up.
_ZONES: Any = service.zone_names()
_LANGUAGES: Any = [SelectChoice("en", "English"), SelectChoice("de", "Deutsch")]


def _nothing(value: Any) -> Any:
    return value or None


class LimitsForm(Form):
    """What a workspace sets for itself; `sure` is asked for only where rows would go."""

    mails_per_day = IntegerField(_("Marketing mails per person and day"), [Optional()])
    quiet_from = StringField(_("Quiet hours from"), filters=[trimmed, _nothing])
    quiet_until = StringField(_("Quiet hours until"), filters=[trimmed, _nothing])
    retention_days = IntegerField(_("Keep finished runs for (days)"), [InputRequired()])
    timezone = SelectField(_("Time zone"), choices=_ZONES)
    language = SelectField(_("Language"), choices=_LANGUAGES)
    sure = BooleanField(_("Yes, delete what is older"))

    def wanted(self) -> Limits:
        """Return the limits that the form asks for."""
        return Limits(
            self.mails_per_day.data,
            self.quiet_from.data,
            self.quiet_until.data,
            self.retention_days.data or 0,
            self.timezone.data,
            self.language.data,
        )


@pages.get("")
@auth.requires("workspace:read")
def index() -> Response:
    """Show the settings; in a form where the role may change them."""
    row = queries.get_settings(session(), auth.person().workspace_id)
    return _show(row, LimitsForm(obj=row) if auth.may("workspace:manage") else None)


@pages.post("")
@auth.requires("workspace:manage")
def save() -> Response:
    """Save the settings, unless a shorter retention has to be confirmed first."""
    workspace_id = auth.person().workspace_id
    row = queries.get_settings(session(), workspace_id, hold=True)
    form = LimitsForm()
    if not form.validate():
        return _show(row, form, status=errors.FORM_REFUSED)
    wanted = form.wanted()
    done = service.update_limits(session(), workspace_id, wanted, auth.actor(), now())
    if isinstance(done, Refused):
        form.show(done, words)
        return _show(row, form, status=errors.FORM_REFUSED)
    doomed = _doomed(row, wanted)
    if doomed and not form.sure.data:
        # A page that answers with a fault keeps nothing of what was written.
        form.sure.errors = (_warning(doomed, wanted.retention_days),)
        return _show(row, form, status=errors.FORM_REFUSED)
    flash(gettext("The settings are saved."))
    return htmx.see_other(url_for("workspace.index"))


def _doomed(row: WorkspaceSettings, wanted: Limits) -> int:
    """Return how many finished runs only the new retention would delete; capped."""
    if wanted.retention_days >= row.retention_days:
        return 0
    before = now() - timedelta(days=wanted.retention_days)
    return pruning.count_old_runs(
        session(), auth.person().workspace_id, before, most=MOST_COUNTED + 1
    )


def _warning(doomed: int, days: int) -> str:
    count = format_decimal(min(doomed, MOST_COUNTED))
    if doomed > MOST_COUNTED:
        count = gettext("More than %(count)s", count=count)
    return str(
        gettext(
            "Finished runs that ended over %(days)s days ago: %(count)s. They would be deleted for "
            "good in the coming night, with their log. Confirm it below.",
            days=days,
            count=count,
        )
    )


def _show(row: WorkspaceSettings, form: LimitsForm | None, status: int = 200) -> Response:
    return htmx.render("workspace/settings.html", status=status, workspace=row, form=form)
