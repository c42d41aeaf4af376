"""What one request works with: its session, its instant, its id, who acts.

Begins and ends the transaction: a page that is read is never committed; a request that writes is
committed after its view and before its answer leaves, if that answer is below 400. Every other
answer, and every exception, rolls back, unless the view said `keep()`.
"""

from datetime import datetime
from typing import Final, cast

import structlog
from flask import Flask, Response, current_app, g, request
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, NotFound

from engine.core import clock, unit_of_work
from engine.core.boot import Runtime
from engine.core.db import Base, guard, scope
from engine.core.ids import new_public_id
from engine.core.unit_of_work import open_for_writing

WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
REQUEST_ID: Final = "X-Request-Id"
_RUNTIME: Final = "stellwerk"

db: Final = SQLAlchemy(
    model_class=Base, session_options={"expire_on_commit": False}, add_models_to_shell=False
)
# The web's sessions listen to the same as the engine's own: the workspace guard, the hand-over.
_SESSIONS: Final = cast("sessionmaker[Session]", db.session.session_factory)
guard.attach(_SESSIONS)
unit_of_work.attach(_SESSIONS)


def register(app: Flask, runtime: Runtime) -> None:
    """Give the app the engine's database and the transaction of each request.

    Call it before anything else registers hooks: what is registered later runs before the commit.
    """
    app.extensions[_RUNTIME] = runtime
    app.config["SQLALCHEMY_DATABASE_URI"] = runtime.database.engine.url
    db.init_app(app)
    with app.app_context():
        cast("dict[str | None, Engine]", db.engines)[None] = runtime.database.engine
    app.before_request(_begin)
    app.after_request(_end)


def runtime() -> Runtime:
    """Return the started engine: settings, database, unit of work."""
    return cast(Runtime, current_app.extensions[_RUNTIME])


def session() -> Session:
    """Return the one session of this request; it is for reading until `begin_writing`."""
    return cast(Session, db.session())


def begin_writing() -> Session:
    """Begin the transaction of a request that writes, and return its session.

    The body must have been read before: on SQLite the transaction keeps every other writer
    waiting, and a slow sender must not decide for how long. To be called once, before any query.
    """
    opened = session()
    open_for_writing(opened)
    g.writing = True
    return opened


def enter_workspace(workspace_id: int) -> None:
    """Restrict the session to a workspace, once it is known who asks."""
    scope(session(), workspace_id)
    structlog.contextvars.bind_contextvars(workspace_id=workspace_id)


def keep() -> None:
    """Have this request committed although its answer refuses (a counted try, for example)."""
    g.keep = True


def now() -> datetime:
    """Return the instant of this request: read once, so that one act bears one time."""
    if "at" not in g:
        g.at = clock.now()
    return cast(datetime, g.at)


def refuse_nul(values: "MultiDict[str, str]") -> None:
    """Answer 400 to NUL: no page has a use for it, and PostgreSQL refuses to compare with it."""
    if any("\0" in text for pair in values.items(multi=True) for text in pair):
        raise BadRequest


def request_id() -> str | None:
    """Return the id that this request bears in the logs, in its answer and on error pages."""
    return cast("str | None", g.get("request_id"))


def _begin() -> None:
    g.request_id = new_public_id()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)
    if "\0" in request.path:
        raise NotFound
    refuse_nul(request.args)


def _end(response: Response) -> Response:
    if g.pop("writing", False):
        if response.status_code < 400 or g.get("keep", False):
            session().commit()
        else:
            session().rollback()
    response.headers[REQUEST_ID] = g.request_id
    return response
