"""The form of the step `random_split`."""

import re
from typing import Any, Final

from flask_babel import lazy_gettext as _
from wtforms import StringField

from engine.automations.kinds.steps.random_split import WAYS
from engine.core.db import JsonObject
from web.automations.kinds.base import KindForm
from web.forms import Form, trimmed

_BETWEEN: Final = re.compile(r"[\s,;/%]+")
# No more than a person could mean; what is longer is refused as it stands.
_LONGEST: Final = 3


class SplitFields(Form):
    """The shares, in the order of the ways."""

    shares = StringField(
        _("Shares in percent"),
        filters=[trimmed],
        description=_("One number for each way, two to five, 100 together. For example: 50, 50"),
        render_kw={"maxlength": 40},
    )


class RandomSplitForm(KindForm):
    """A split by chance."""

    Fields = SplitFields
    label = _("Random split")
    about = _("Send people several ways by chance, a person always the same way.")

    def shown(self, config: JsonObject) -> dict[str, Any]:
        """Return the shares as people write them."""
        shares = config.get("shares", {"a": 50, "b": 50})
        if not isinstance(shares, dict):
            return {"shares": str(shares)}
        return {"shares": ", ".join(str(shares[way]) for way in WAYS if way in shares)}

    def read(self, form: Any) -> JsonObject:
        """Return the shares by way; what is no row of numbers is passed on to be refused."""
        text = form.shares.data or ""
        parts = [part for part in _BETWEEN.split(text) if part]
        numbers = all(part.isascii() and part.isdigit() for part in parts)
        if not numbers or len(parts) > len(WAYS) or any(len(part) > _LONGEST for part in parts):
            return {"shares": text}
        return {"shares": dict(zip(WAYS, map(int, parts), strict=False))}
