"""The page of the workspace's settings; a shorter retention says what it deletes before it does."""

from typing import Any

from flask import Blueprint, Response, flash, url_for
from flask_babel import format_date, format_decimal, gettext, ngettext
from flask_babel import lazy_gettext as _
from wtforms import BooleanField, HiddenField, IntegerField, SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired, Optional

from engine import pruning
from engine.accounts import queries, service
from engine.accounts.queries import WorkspaceSettings
from engine.accounts.service import Limits
from engine.core.outcome import Refused
from engine.pruning import MOST_COUNTED, Doomed, Loss
from web import auth, errors, htmx
from web.forms import Form, trimmed
from web.request import now, session
from web.workspace.messages import words

pages = Blueprint("workspace", __name__, url_prefix="/workspace")
# The published types still ask for pairs, which the library itself has given up.
_ZONES: Any = service.zone_names()
_LANGUAGES: Any = [SelectChoice("en", "English"), SelectChoice("de", "Deutsch")]


def _nothing(value: Any) -> Any:
    return value or None


class LimitsForm(Form):
    """What a workspace sets for itself.

    `sure` is asked for only where history gets shorter; `sure_of` are the days it was asked about.
    """

    mails_per_day = IntegerField(_("Marketing mails per person and day"), [Optional()])
    quiet_from = StringField(_("Quiet hours from"), filters=[trimmed, _nothing])
    quiet_until = StringField(_("Quiet hours until"), filters=[trimmed, _nothing])
    retention_days = IntegerField(_("Keep history for (days)"), [InputRequired()])
    timezone = SelectField(_("Time zone"), choices=_ZONES)
    language = SelectField(_("Language"), choices=_LANGUAGES)
    sure = BooleanField(_("Yes, shorten it"))
    sure_of = HiddenField()

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
    days = wanted.retention_days
    if days < row.retention_days and not (form.sure.data and form.sure_of.data == str(days)):
        # A page that answers with a fault keeps nothing of what was written.
        loss = pruning.coming_night(session(), workspace_id, days, now(), MOST_COUNTED)
        _ask(form, loss, days)
        return _show(row, form, status=errors.FORM_REFUSED)
    flash(gettext("The settings are saved."))
    return htmx.see_other(url_for("workspace.index"))


def _ask(form: LimitsForm, loss: Loss, days: int) -> None:
    """Put the question with its numbers on the form; an earlier yes was about other days."""
    form.sure.data, form.sure_of.data = False, str(days)
    runs = ngettext("finished run", "finished runs", loss.runs.count)
    mails = ngettext("mail", "mails", loss.sends.count)
    happened = ngettext("event", "events", loss.events.count)
    day = format_date(loss.before, "medium")
    going = {
        "runs": _counted(loss.runs, runs),
        "mails": _counted(loss.sends, mails),
        "events": _counted(loss.events, happened),
    }
    question = gettext(
        "Tonight everything before %(day)s goes for good: %(runs)s, %(mails)s, %(events)s. "
        "Shorten?",
        day=day,
        **going,
    )
    form.sure.errors = (question,)


def _counted(doomed: Doomed, sort: str) -> str:
    count = f"{format_decimal(doomed.count)} {sort}"
    return str(gettext("more than %(count)s", count=count)) if doomed.more else count


def _show(row: WorkspaceSettings, form: LimitsForm | None, status: int = 200) -> Response:
    return htmx.render("workspace/settings.html", status=status, workspace=row, form=form)
