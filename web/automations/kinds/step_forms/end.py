"""The form of the step `end`."""

from flask_babel import lazy_gettext as _

from web.automations.kinds.base import KindForm


class EndForm(KindForm):
    """Nothing to fill in."""

    label = _("End")
    about = _("The line ends here for whoever arrives.")
