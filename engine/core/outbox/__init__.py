"""Product events: one row per real transition, in its own commit, drained later (decision C12).

`rows` owns the rows and how they are written; `drain` sends them to STELLWERK_POSTHOG_URL.
"""

from engine.core.outbox.rows import KEPT, ProductEvent, forget, outdated, record

__all__ = ["KEPT", "ProductEvent", "forget", "outdated", "record"]
