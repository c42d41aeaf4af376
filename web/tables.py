"""What every list shares: the page it stands on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """What the pager needs. next: cursor of the next page; first: whether this is the first one."""

    next: str | None
    first: bool
