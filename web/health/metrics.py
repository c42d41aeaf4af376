"""The figures at /metrics: counters of this process, gauges of the installation.

Owns the registry of the app; leaves what the gauges read to web.health.gauges.
"""

import os
from collections.abc import Iterator
from time import perf_counter
from typing import Final, cast

from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from web.health import gauges
from web.request import now, runtime

_EXTENSION: Final = "stellwerk_metrics"


class _Installation(Collector):
    """Reads the gauges whenever somebody scrapes."""

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges of this instant, of all workspaces."""
        with runtime().uow.read() as session:
            yield from gauges.read(session, now())

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: registering must not read the database."""
        yield from ()


class Figures:
    """The registry of one app, and what it counts by itself."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Each process counts for itself, and each scrape meets one of them.
        labels = ("process", "method", "endpoint")
        self.requests = Counter(
            "stellwerk_requests", "Requests answered", (*labels, "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "stellwerk_request_seconds", "Time to answer", labels, registry=self.registry
        )
        self.registry.register(_Installation())


def register(app: Flask) -> None:
    """Count every request of the app."""
    app.extensions[_EXTENSION] = Figures()
    app.before_request(_start)
    app.after_request(_count)


def text() -> bytes:
    """Return all figures in Prometheus' text format."""
    return generate_latest(_figures().registry)


def _figures() -> Figures:
    return cast(Figures, current_app.extensions[_EXTENSION])


def _start() -> None:
    g.started = perf_counter()


def _count(response: Response) -> Response:
    figures = _figures()
    # An unknown address is nobody's endpoint; its text must not become a label.
    labels = (str(os.getpid()), request.method, request.endpoint or "none")
    figures.requests.labels(*labels, str(response.status_code)).inc()
    if "started" in g:
        figures.seconds.labels(*labels).observe(perf_counter() - g.started)
    return response
