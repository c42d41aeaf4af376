"""The marks of what a page shows: by them an open page asks what has changed since."""

from engine.automations.queries import AutomationDetail, Figures
from engine.automations.queries.watching import Watched


def seen(found: AutomationDetail, figures: Figures) -> str:
    """Return the marks of what a page shows that is being made."""
    row = found.row
    standing = {step.key: step.standing for step in figures.steps}
    return Watched(
        row.status,
        row.revision_id,
        row.version,
        row.etag,
        row.paused_at,
        row.activated_at,
        figures.tally,
        standing,
    ).marks
