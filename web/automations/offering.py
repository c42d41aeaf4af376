"""What a workspace has for a kind's form to choose from: read only where the kind wants it."""

from collections.abc import Mapping, Set
from typing import Any, Final

from flask_babel import lazy_gettext as _
from sqlalchemy.orm import Session

from engine.accounts import secret_rows
from engine.accounts.service.secrets import ADDRESS, SIGNING
from engine.audience import queries as audience
from engine.audience.models import BUILT_IN, TEXT
from engine.audience.queries.event_names import names_seen
from engine.delivery import queries as delivery
from web.automations.kinds.base import Choices, PropertyChoice

MOST: Final = 200
# What a kind of step wants → the kind of secrets that suit it.
_SECRETS: Final[Mapping[str, str]] = {"signing": SIGNING, "addresses": ADDRESS}
_BUILT_IN: Final[dict[str, Any]] = {
    "email": _("Address"),
    "first_name": _("First name"),
    "last_name": _("Last name"),
    "source": _("Source"),
}


def read(session: Session, workspace_id: int, wants: Set[str]) -> Choices:
    """Return the choices that are wanted, one statement for each; at most MOST of each."""
    templates, topics, properties = [], [], []
    if "templates" in wants:
        templates = delivery.newest_names(session, workspace_id, MOST)
    if "topics" in wants:
        rows, _more = audience.page_topics(session, workspace_id, limit=MOST)
        topics = [(row.public_id, row.name) for row in rows]
    if "properties" in wants:
        found, _more = audience.list_properties(session, workspace_id, limit=MOST)
        properties = [PropertyChoice(key, str(_BUILT_IN[key]), TEXT) for key in BUILT_IN]
        properties += [PropertyChoice(row.key, _label(row), row.type) for row in found]
    secrets = [] if not wants & _SECRETS.keys() else secret_rows.list_secrets(session, workspace_id)
    kept = {_SECRETS[want] for want in wants & _SECRETS.keys()}
    named = [(row.public_id, row.name) for row in secrets if row.kind in kept]
    return Choices(
        sorted(templates, key=_by_name),
        sorted(topics, key=_by_name),
        properties,
        named,
        names_seen(session, workspace_id) if "events" in wants else (),
    )


def _label(row: audience.PropertyRow) -> str:
    """Return the label with the key behind it, by which the plan names the property."""
    if not row.label or row.label == row.key:
        return row.key
    return f"{row.label} ({row.key})"


def _by_name(option: tuple[str, str]) -> str:
    return option[1].casefold()
