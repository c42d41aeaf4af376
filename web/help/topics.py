"""What the user guide is about, and which of its pages belongs to the page somebody stands on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString


@dataclass(frozen=True)
class Topic:
    """A page of the guide: its title, and the endpoint of the page it is about ('' for none)."""

    title: LazyString
    opens: str = ""


# Name in the address → topic, in the order of the console's navigation. The text of each stands in
# templates/help/<name>.html.
TOPICS: Final[Mapping[str, Topic]] = {
    "start": Topic(_("First steps"), "home.index"),
    "attention": Topic(_("Needs attention"), "attention.index"),
    "automations": Topic(_("Automations"), "automations.index"),
    "editor": Topic(_("The editor")),
    "publishing": Topic(_("Publishing and revisions")),
    "pausing": Topic(_("Pausing and resuming")),
    "importing": Topic(_("Export and import")),
    "simulate": Topic(_("Simulate")),
    "why": Topic(_("Why, or why not")),
    "approvals": Topic(_("Requests"), "approvals.index"),
    "runs": Topic(_("Runs"), "runs.index"),
    "people": Topic(_("People"), "people.index"),
    "suppressions": Topic(_("Suppression list"), "suppressions.index"),
    "outbox": Topic(_("Outbox"), "sends.index"),
    "templates": Topic(_("Templates"), "templates.index"),
    "audit": Topic(_("Audit log"), "audit.index"),
    "secrets": Topic(_("Secrets"), "secrets.index"),
    "keys": Topic(_("API keys"), "api_keys.index"),
    "settings": Topic(_("Settings"), "workspace.index"),
}
# Blueprint → topic of its pages.
_AREAS: Final[Mapping[str, str]] = {
    "api_keys": "keys",
    "approvals": "approvals",
    "attention": "attention",
    "audit": "audit",
    "automations": "editor",
    "home": "start",
    "people": "people",
    "runs": "runs",
    "secrets": "secrets",
    "sends": "outbox",
    "suppressions": "suppressions",
    "templates": "templates",
    "workspace": "settings",
}
# Endpoint → topic, for pages that are about something else than their area.
_PAGES: Final[Mapping[str, str]] = {
    "automations.ask_publish": "publishing",
    "automations.compare_revisions": "publishing",
    "automations.import_file": "importing",
    "automations.index": "automations",
    "automations.publish": "publishing",
    "automations.revision": "publishing",
    "automations.revisions": "publishing",
    "automations.simulate": "simulate",
    "automations.why": "why",
    "people.why": "why",
}
# Dialogs that stand in the page (`?ask=`) and have a topic of their own.
_ASKED: Final = frozenset({"activate", "pause", "resume", "stop", "revert"})


def topic_of(endpoint: str, asked: str = "") -> str | None:
    """Return the topic of a page, or None where it has none; asked: the open dialog or ''."""
    if endpoint == "automations.detail" and asked in _ASKED:
        return "publishing" if asked == "activate" else "pausing"
    return _PAGES.get(endpoint) or _AREAS.get(endpoint.partition(".")[0])
