"""The whole house: every room wired to the floor. The edges start a process here."""

from engine.accounts import models as accounts_models
from engine.audience import models as audience_models
from engine.automations import models as automations_models
from engine.core import audit, boot, effects, events, rate, ticks
from engine.core.settings import Settings
from engine.delivery import models as delivery_models

# Every module that declares rows, so that the metadata is complete wherever the house is known.
ROWS = (
    accounts_models,
    audience_models,
    automations_models,
    delivery_models,
    audit,
    events,
    rate,
    ticks,
)


def start(settings: Settings, dispatch: effects.Dispatch | None = None) -> boot.Runtime:
    """Start one process: floor first, then every room's subscriptions."""
    return boot.boot(settings, dispatch)
