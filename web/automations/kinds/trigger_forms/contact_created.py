"""The form of the trigger `contact_created`."""

from flask_babel import lazy_gettext as _

from web.automations.kinds.base import KindForm


class ContactCreatedForm(KindForm):
    """Nothing to fill in."""

    label = _("New person")
    about = _("A person becomes known for the first time.")
