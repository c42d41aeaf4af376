"""All pages of automations: the blueprint with the routes of its modules."""

from web.automations import (
    comparison,
    editor,
    importing,
    lifetime,
    live,
    publishing,
    revisions,
    simulation,
    switching,
    views,
    why,
)
from web.automations.blueprint import pages

__all__ = [
    "comparison",
    "editor",
    "importing",
    "lifetime",
    "live",
    "pages",
    "publishing",
    "revisions",
    "simulation",
    "switching",
    "views",
    "why",
]
