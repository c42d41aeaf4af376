"""The words of the first page: where a person stands."""

from flask_babel import gettext

from engine.automations.models import CANCELLED, COMPLETED
from engine.automations.queries import RunRow


def standing(run: RunRow, step: str | None) -> str:
    """Return where the person of a run stands; step: what the step there does, where known."""
    if run.status == COMPLETED:
        return str(gettext("finished"))
    if run.status == CANCELLED:
        return str(gettext("left early"))
    if step is None:
        return str(gettext("is on the way"))
    # Without quotes: the step may bear a name in quotes of its own.
    return str(gettext("stands at: %(step)s", step=step))
