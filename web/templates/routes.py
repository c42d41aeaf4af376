"""All pages of templates: the blueprint with the routes of its modules."""

from web.templates import browsing, views
from web.templates.views import pages

__all__ = ["browsing", "pages", "views"]
