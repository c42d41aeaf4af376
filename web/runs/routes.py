"""All pages of runs: the blueprint with the routes of its modules."""

from web.runs import acts, bulk, live, saved, views
from web.runs.blueprint import pages

__all__ = ["acts", "bulk", "live", "pages", "saved", "views"]
