"""Puts the API on the app: its operations, its description, its page for readers."""

from typing import Any, Final, cast

from flask import Response, jsonify
from flask_openapi.models.info import Info
from flask_openapi.models.security_scheme import SecurityScheme
from flask_openapi.openapi import OpenAPI
from flask_wtf import CSRFProtect

from web.api import (
    approvals,
    automation_explain,  # noqa: F401 - adds its operation to the area of automations
    automation_export,  # noqa: F401 - as above
    automation_publishing,  # noqa: F401 - as above
    automation_revisions,  # noqa: F401 - as above
    automation_simulation,  # noqa: F401 - as above
    automation_stats,  # noqa: F401 - as above
    automations,
    contacts,
    docs,
    events,
    properties,
    run_acts,  # noqa: F401 - adds its operations to the area of runs
    run_jobs,  # noqa: F401 - as above
    runs,
    senders,
    sends,
    state,
    suppressions,
    templates,
    topics,
    workspace,
)
from web.api.area import API
from web.api.problems import ProblemDocument

VERSION: Final = "1"
# In the order of the reader's page.
AREAS: Final = (
    contacts.area,
    properties.area,
    topics.area,
    suppressions.area,
    events.area,
    templates.area,
    senders.senders,
    senders.domains,
    automations.area,
    approvals.area,
    runs.area,
    sends.area,
    workspace.area,
)


def scopes() -> frozenset[str]:
    """Return the scopes that some operation asks for."""
    return frozenset().union(*(area.scopes for area in AREAS))


def register(app: OpenAPI) -> None:
    """Add the API to `app`; the engine and CSRF protection must have been registered before."""
    state.install(app)
    app.info = Info(
        title="Stellwerk",
        version=VERSION,
        description="Send Authorization: Bearer <key>. Refusals are problem documents (RFC 9457).",
    )
    app.security_schemes = {"key": SecurityScheme(type="http", scheme="bearer")}
    app.validation_error_model = ProblemDocument
    csrf: CSRFProtect = app.extensions["csrf"]
    # A key in a header cannot be sent by a foreign page.
    csrf.exempt(API)
    app.register_api(API)
    app.tags = [area.tag for area in AREAS]
    app.add_url_rule("/api/v1/openapi.json", "api.description", view_func=lambda: _spec(app))
    app.register_blueprint(docs.pages)


def _spec(app: OpenAPI) -> Response:
    return jsonify(description(app))


def description(app: OpenAPI) -> dict[str, Any]:
    """Return the OpenAPI description of the API."""
    return cast("dict[str, Any]", app.api_doc)
