"""All pages of people: the blueprint with the routes of its modules."""

from web.people import firing, views, why
from web.people.blueprint import pages

__all__ = ["firing", "pages", "views", "why"]
