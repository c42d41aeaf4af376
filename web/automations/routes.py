"""All pages of automations: the blueprint with the routes of its modules."""

from web.automations import switching, views
from web.automations.blueprint import pages

__all__ = ["pages", "switching", "views"]
