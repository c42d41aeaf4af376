"""Have an event happen to one person by hand (decision A18): said what it may start, audited."""

import json
from typing import Final

from flask import Response, flash, url_for
from flask_babel import gettext, ngettext
from flask_babel import lazy_gettext as _
from wtforms import StringField, TextAreaField
from wtforms.validators import InputRequired, Length

from engine.audience import service
from engine.audience.inputs import EventInput
from engine.audience.queries import ContactRow
from engine.audience.queries.event_names import names_seen
from engine.audience.service.happenings import RECEIVED
from engine.automations import queries as automations
from engine.automations.kinds.triggers import TRIGGERS
from engine.automations.models import ACTIVE
from engine.automations.queries import AutomationRow
from engine.core.outcome import Problem, Refused
from web import auth, errors, htmx
from web.forms import Form, trimmed
from web.people.blueprint import found, pages
from web.people.messages import words
from web.request import now, session

_LONGEST: Final = 20_000


class EventForm(Form):
    """An event: its name, and what templates and branches may read of it."""

    event_name = StringField(
        _("Name of the event"), [InputRequired(), Length(max=100)], filters=[trimmed]
    )
    event_properties = TextAreaField(
        _("Properties of the event"), [Length(max=_LONGEST)], filters=[trimmed]
    )


@pages.get("/<public_id>/events")
@auth.requires("contacts:act")
def ask_event(public_id: str) -> Response:
    """Show the form of an event, with the automations that wait for one."""
    return _show(found(public_id), EventForm())


@pages.post("/<public_id>/events")
@auth.requires("contacts:act")
def fire_event(public_id: str) -> Response:
    """Have the event happen to this person now; what waits for it starts at once."""
    person, form = found(public_id), EventForm()
    if not form.validate():
        return _show(person, form, 422)
    sent = _event(form, public_id)
    done = sent if isinstance(sent, Refused) else service.fire_event(
        session(), auth.person().workspace_id, sent, auth.actor(), now()
    )  # fmt: skip
    if isinstance(done, Refused):
        form.show(done, words)
        return _show(person, form, errors.status_of(done))
    count = done.triggered_automations
    flash(
        gettext("Event “%(name)s” happened.", name=form.event_name.data)
        + " "
        + (
            ngettext("It started %(num)s automation.", "It started %(num)s automations.", count)
            if count
            else gettext("It started no automation.")
        )
    )
    return htmx.see_other(url_for("people.detail", public_id=public_id))


def _show(person: ContactRow, form: EventForm, status: int = 200) -> Response:
    rows, _following = automations.page_automations(
        session(), auth.person().workspace_id, ACTIVE, limit=200
    )
    waiting = [(row, name) for row in rows if (name := _waits_for(row)) is not None]
    names = {name for _row, name in waiting}
    names |= {*names_seen(session(), auth.person().workspace_id)}
    return htmx.render(
        "people/fire.html",
        status=status,
        person=person,
        form=form,
        waiting=waiting,
        names=sorted(names, key=str.casefold),
    )


def _waits_for(row: AutomationRow) -> str | None:
    """Return the name of the event that starts an automation; None for other triggers."""
    kind = TRIGGERS.get(row.trigger_type) if row.trigger_type in TRIGGERS else None
    if kind is None or kind.listens_to != RECEIVED:
        return None
    return kind.event_name(kind.Config.model_validate(row.trigger_config))


def _event(form: EventForm, public_id: str) -> EventInput | Refused:
    text = form.event_properties.data or ""
    try:
        read = json.loads(text) if text else None
    except (ValueError, RecursionError):
        read = ""
    if read is not None and not isinstance(read, dict):
        return Refused("invalid_event", "invalid", (Problem("/event_properties", "not_an_object"),))
    return EventInput(str(form.event_name.data), contact_id=public_id, event_properties=read)
