"""Delete what automations may send: a template that one of them names stays."""

from datetime import datetime

from sqlalchemy.orm import Session

from engine.automations.queries.using import using
from engine.core import audit
from engine.core.outcome import Refused
from engine.delivery import service as delivery


def discard_template(
    session: Session, workspace_id: int, public_id: str, actor: audit.Actor, at: datetime
) -> Refused | None:
    """Delete a template softly, unless an automation names it in its draft or in force.

    Refused: `template_in_use` with the `count` of automations, `template_not_found`.
    """
    users = {use.automation_id for use in using(session, workspace_id, public_id)}
    if users:
        return Refused("template_in_use", params={"count": len(users)})
    return delivery.delete_template(session, workspace_id, public_id, actor, at)
