"""A workspace in which something stands on every page, and the ids that fill each area's addresses.

A new area adds its line; the probe fails for a route with an id whose area has none.
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from engine.accounts import view_rows
from engine.accounts.models import Membership
from engine.accounts.service import views
from engine.automations.queries import RunFilter
from engine.automations.service import RunAct, bulk
from engine.core.clock import FixedClock
from engine.delivery import queries as delivery
from engine.house import House
from tests.factories import accounts, asking, audience, scenes, secrets
from tests.factories import automations as making
from tests.factories.automations import ACTOR

Ids = Mapping[str, str]


def furnish(house: House, clock: FixedClock, workspace_id: int) -> Mapping[str, Ids]:
    """Fill a workspace; return, by blueprint, values for the arguments of its routes.

    The clock moves on by some days: sign in afterwards.
    """
    scene = scenes.full(house, clock, workspace_id)
    with house.runtime.uow.begin() as session:
        key, _secret = accounts.api_key(session, workspace_id)
        key_id = key.public_id
        hook = secrets.secret(session, workspace_id).public_id
        asked = bulk.ask(
            session, workspace_id, RunFilter(attention=True), RunAct("dismiss"), ACTOR, clock.now()
        )
        assert isinstance(asked, bulk.Asked)
        job_id = asked.job_id
        blocked = audience.suppression(session, workspace_id).public_id
        draft = asking.draft(session, workspace_id, making.document(making.delay("a")), clock.now())
        request = asking.ask(session, workspace_id, draft, clock.now(), note="Ready for Monday.")
        template = delivery.newest_names(session, workspace_id, 1)[0][0]
        view_id = _view(session, workspace_id, clock.now())
    return {
        "api_keys": {"public_id": key_id},
        "approvals": {"public_id": request},
        "automations": {"public_id": scene.automations["active"], "key": "wait", "number": "1"},
        # The guide is the same for everybody; this page of it was made up.
        "help": {"topic": "made-up-topic"},
        # A link is good for whoever holds it; this one was made up.
        "links": {"token": "made.up.here.withoutthesignature1234"},
        "people": {"public_id": scene.people["first"]},
        "runs": {
            "public_id": next(iter(scene.runs.values())),
            "job_id": job_id,
            "view_id": view_id,
        },
        "secrets": {"public_id": hook},
        "suppressions": {"public_id": blocked},
        "sends": {"public_id": scene.sends["first"]},
        "templates": {"public_id": template},
    }


def _view(session: Session, workspace_id: int, at: datetime) -> str:
    """Return a view of the list of runs that somebody of the workspace has saved."""
    member = Membership
    user_id = (
        session.scalar(
            select(member.user_id).where(member.workspace_id == workspace_id).order_by(member.id)
        )
        or accounts.user(session, workspace_id).id
    )
    views.save_view(session, workspace_id, user_id, views.RUNS, "Waiting", "status=running", at)
    return view_rows.list_views(session, workspace_id, user_id, views.RUNS)[0].public_id
