"""Time zones: the rules that come with the product, not those of the machine.

A machine that is seldom updated would tell Brazil's time an hour early for ever; the same release
tells the same time everywhere (decision G7).
"""

import zoneinfo
from importlib import metadata


def use_shipped() -> None:
    """Have every zone read from the shipped rules from now on."""
    if zoneinfo.TZPATH:
        zoneinfo.reset_tzpath(to=())
        zoneinfo.ZoneInfo.clear_cache()


def version() -> str:
    """Return the release of the shipped rules, for example 2026.6."""
    return metadata.version("tzdata")
