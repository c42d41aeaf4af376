"""The links of this installation, as the web makes and reads them."""

from engine.delivery.links import Links
from web.request import runtime


def links() -> Links:
    """Return what makes and reads the links in mails; the worker's is equal."""
    at_work = runtime()
    return Links(at_work.settings.base_url, at_work.secret_key)
