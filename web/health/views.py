"""The addresses that machines ask; open to everybody, and silent about people."""

from http import HTTPStatus

from flask import Blueprint, Response, jsonify
from prometheus_client import CONTENT_TYPE_LATEST

from web import auth
from web.health import metrics, readiness
from web.request import runtime

pages = Blueprint("health", __name__)


@pages.get("/health/live")
@auth.open_to_strangers
def live() -> Response:
    """Say that this process answers; asks nothing of the database."""
    return jsonify(status="live")


@pages.get("/health/ready")
@auth.open_to_strangers
def ready() -> Response:
    """Say whether database and schema are as this program needs them: 200, or 503."""
    found = readiness.look(runtime().database.engine)
    answer = jsonify(
        status="ready" if found.ready else "not_ready",
        database=found.database,
        schema=found.schema,
    )
    answer.status_code = HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE
    return answer


@pages.get("/metrics")
@auth.open_to_strangers
def figures() -> Response:
    """Answer the figures in Prometheus' text format."""
    return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)
