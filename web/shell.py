"""What stands around every page: who is signed in, where, and whether a worker is alive.

Built once a request, and only for a signed-in person; the frame of a stranger reads no database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Flask, g

from engine.accounts.service import Person
from engine.automations.queries.waiting import waiting
from engine.core import ticks
from migrations import run
from web import auth
from web.request import now, runtime, session

WORKER: Final = "worker"
TIMETABLE: Final = "timetable"
ATTENTION: Final = "attention.index"
REQUESTS: Final = "approvals.index"


@dataclass(frozen=True)
class Workspace:
    """The workspace as the frame names it. suspended_at: since when it stands still, or None."""

    id: str
    name: str
    suspended_at: datetime | None


@dataclass(frozen=True)
class Shell:
    """The context of base.html. worker_missing: none has reported for a minute.

    timetable_missing: workers have, but none of them that looks for what has become due.
    newer_schema: what a newer program has made of the schema; this one is out of date then.
    waiting: how much waits in an area for somebody, by its endpoint.
    """

    user: Person
    workspace: Workspace
    worker_seen_at: datetime | None
    worker_missing: bool
    timetable_missing: bool
    newer_schema: str | None
    waiting: Mapping[str, int]
    keeps_mail: bool
    test_clock: bool


def register(app: Flask) -> None:
    """Give every template its frame, and the question whether the reader may do something."""
    app.context_processor(_context)
    app.jinja_env.globals.update(may=auth.may)


def frameless() -> None:
    """Say that the answer is a fragment: it stands in a page with a frame, and needs no other."""
    g.shell = None


def _context() -> dict[str, Any]:
    if g.get("bare", False):
        return {"shell": None}
    if "shell" not in g:
        g.shell = _build()
    return {"shell": g.shell}


def _build() -> Shell | None:
    person = auth.signed_in_person()
    if person is None:
        return None
    settings = runtime().settings
    worker = ticks.pulse(session(), WORKER, now())
    return Shell(
        user=person,
        workspace=Workspace(person.workspace_public_id, person.workspace_name, person.suspended_at),
        worker_seen_at=worker.seen_at,
        worker_missing=not worker.alive,
        timetable_missing=worker.alive and not ticks.pulse(session(), TIMETABLE, now()).alive,
        newer_schema=run.newer(session().connection()),
        waiting=_waiting(person.workspace_id),
        keeps_mail=settings.smtp_url is None,
        test_clock=settings.test_clock is not None,
    )


def _waiting(workspace_id: int) -> dict[str, int]:
    """Return how much waits for the reader; requests for who decides them alone."""
    found = waiting(session(), workspace_id, decides=auth.may("approvals:act"))
    return {ATTENTION: found.causes, REQUESTS: found.requests}
