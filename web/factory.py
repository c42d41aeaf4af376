"""Puts the web together: one app, its hooks in their order, the pages of every room, the API."""

from pathlib import Path
from types import TracebackType
from typing import Final

import structlog
from flask import Blueprint
from flask_openapi.openapi import OpenAPI
from flask_wtf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from engine.accounts.service.sessions import LONGEST
from engine.core.boot import Runtime
from web import auth, compression, errors, filters, headers, htmx, i18n, request, shell
from web.accounts import api_keys, sign_in
from web.api import routes
from web.approvals import views as approvals
from web.attention import views as attention
from web.audit import views as audit
from web.automations import routes as automations
from web.health import metrics
from web.health import views as health
from web.help import views as guide
from web.home import views as home
from web.links import views as links
from web.people import routes as people
from web.replay import Repeating
from web.runs import routes as runs
from web.secrets import views as secrets
from web.sends import views as sends
from web.suppressions import views as suppressions
from web.templates import routes as templates
from web.workspace import views as workspace

ROOT: Final = Path(__file__).resolve().parent.parent
# The pages, one blueprint a room.
PAGES: Final[tuple[Blueprint, ...]] = (
    home.pages,
    sign_in.pages,
    attention.pages,
    automations.pages,
    approvals.pages,
    runs.pages,
    people.pages,
    suppressions.pages,
    sends.pages,
    templates.pages,
    secrets.pages,
    api_keys.pages,
    audit.pages,
    workspace.pages,
    guide.pages,
    health.pages,
)
# One MiB of form is more than any page of ours sends; the API reads its bodies by its own limit.
LARGEST_FORM: Final = 1_048_576

log: Final = structlog.get_logger(__name__)
_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Console(Repeating, OpenAPI):
    """The app; what breaks in it is logged like everything else."""

    def log_exception(self, exc_info: _Raised) -> None:
        """Log an exception that no handler expected."""
        log.error("request_failed", exc_info=exc_info)


def make_app(runtime: Runtime) -> Console:
    """Return the console that works on a started engine."""
    app = Console(
        "web",
        root_path=str(ROOT),
        static_folder="static",
        template_folder="templates",
        doc_ui=False,
    )
    _configure(app, runtime)
    # The order matters: the commit comes after every other hook of an answer, and who is there
    # is settled before CSRF is checked.
    request.register(app, runtime)
    metrics.register(app)
    compression.register(app)
    headers.register(app)
    htmx.register(app)
    i18n.register(app)
    auth.register(app)
    CSRFProtect(app)
    errors.register(app)
    filters.register(app)
    shell.register(app)
    for pages in PAGES:
        app.register_blueprint(pages)
    links.register(app)
    routes.register(app)
    return app


def _configure(app: Console, runtime: Runtime) -> None:
    secure = runtime.settings.secure
    app.config.update(
        SECRET_KEY=runtime.secret_key,
        SESSION_COOKIE_NAME="stellwerk",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=secure,
        SESSION_REFRESH_EACH_REQUEST=False,
        # The row decides when a session ends; the cookie must only not end before it.
        PERMANENT_SESSION_LIFETIME=LONGEST,
        MAX_CONTENT_LENGTH=LARGEST_FORM,
        # A page may stay open over night; its token lives as long as its session.
        WTF_CSRF_TIME_LIMIT=None,
        PROPAGATE_EXCEPTIONS=False,
    )
    app.jinja_options = {**app.jinja_options, "trim_blocks": True, "lstrip_blocks": True}
    if secure:
        # Only a proxy in front of us can speak https; what it says about the caller is then true.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1)  # type: ignore[method-assign]
