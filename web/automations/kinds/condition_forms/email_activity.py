"""The form of the condition `email_activity`."""

from typing import Any

from flask_babel import lazy_gettext as _
from wtforms import SelectField

from web.automations.kinds.base import KindForm, listed
from web.forms import Form

_FIELDS: Any = listed([("opened", _("Opened a mail")), ("clicked", _("Clicked in a mail"))])
_OPERATORS: Any = listed([("is_true", _("ever")), ("is_false", _("never"))])


class ActivityFields(Form):
    """What, and whether."""

    field = SelectField(_("What the person did"), choices=_FIELDS, default="opened")
    operator = SelectField(_("Whether"), choices=_OPERATORS, default="is_true")


class EmailActivityForm(KindForm):
    """What a person ever did with our mail."""

    Fields = ActivityFields
    label = _("Mail activity")
    about = _("What the person ever did with your mails.")
