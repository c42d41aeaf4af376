"""The form of the step `webhook`."""

from typing import Any, Final

from flask_babel import lazy_gettext as _
from wtforms import SelectField, StringField, TextAreaField
from wtforms.validators import Length

from engine.core.db import JsonObject
from web.automations.kinds.base import Choices, KindForm, blank, listed, options
from web.forms import Form, trimmed

_METHODS: Final[Any] = listed([("POST", "POST"), ("PUT", "PUT")])
_EXAMPLE: Final = '{"email": "{{ contact.email }}"}'


class WebhookFields(Form):
    """Whom to tell, what, and how it is signed."""

    url = StringField(
        _("Address"),
        [Length(max=2_000)],
        filters=[trimmed],
        render_kw={"inputmode": "url", "placeholder": "https://"},
    )
    method = SelectField(_("Method"), choices=_METHODS, default="POST")
    secret_id = SelectField(_("Signed with"))
    body = TextAreaField(
        _("Body"),
        [Length(max=20_000)],
        filters=[trimmed],
        description=_(
            "JSON; its texts may use what mails may use. Left empty: who it is and what started "
            "the run."
        ),
        render_kw={"rows": 6, "spellcheck": "false", "placeholder": _EXAMPLE},
    )
    headers = TextAreaField(
        _("Further headers"),
        [Length(max=20_000)],
        filters=[trimmed],
        description=_("One a line, for example: X-Team: sales"),
        render_kw={"rows": 2, "spellcheck": "false"},
    )


class WebhookForm(KindForm):
    """A call to a server of somebody else."""

    Fields = WebhookFields
    label = _("Webhook")
    about = _("Tell a server of yours or of somebody else, signed and with retries.")
    wants = frozenset({"signing"})

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Show the headers one a line."""
        headers = config.get("headers") or {}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        return {**super().shown(config), "headers": "\n".join(lines)}

    def offer(self, form: Any, config: JsonObject, choices: Choices) -> None:
        """Offer the signing secrets."""
        stored = config.get("secret_id")
        form.secret_id.choices = options(choices.secrets, stored, _("Not signed"))

    def read(self, form: Any) -> JsonObject:
        """Return the configuration; a line that is no header is passed on to be refused."""
        wanted = {name: blank(value) for name, value in form.data.items()}
        return {**wanted, "headers": _headers(form.headers.data or "")}


def _headers(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _colon, value = line.partition(":")
        found[name.strip()] = value.strip()
    return found
