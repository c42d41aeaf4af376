"""All pages of automations: the blueprint with the routes of its modules."""

from web.automations import editor, simulation, switching, views
from web.automations.blueprint import pages

__all__ = ["editor", "pages", "simulation", "switching", "views"]
