"""What machines ask: live, ready, figures."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from engine.core import ticks
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import automations as make
from tests.factories.world import World
from tests.web.support import Reader, Town


def _figures(reader: Reader) -> dict[tuple[str, str], float]:
    """Return the samples by name and first label."""
    families: Any = text_string_to_metric_families(reader.get("/metrics").text)
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_process_that_answers_is_live(stranger: Reader) -> None:
    answer = stranger.get("/health/live")
    assert (answer.status_code, answer.json) == (200, {"status": "live"})


def test_a_migrated_database_is_ready(stranger: Reader) -> None:
    answer = stranger.get("/health/ready")
    assert answer.status_code == 200
    assert answer.json == {"status": "ready", "database": True, "schema": True}


def test_another_schema_is_not_ready(uow: UnitOfWork, stranger: Reader) -> None:
    with uow.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    answer = stranger.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json == {"status": "not_ready", "database": True, "schema": False}


def test_a_database_that_is_away_is_not_ready(
    stranger: Reader, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.runtime.database.dispose()
    dialect = house.runtime.database.engine.dialect
    failure = dialect.loaded_dbapi.OperationalError("away")

    def connect(*_arguments: object, **_options: object) -> None:
        raise failure

    monkeypatch.setattr(dialect, "connect", connect)
    answer = stranger.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json == {"status": "not_ready", "database": False, "schema": False}


def test_figures_are_read_from_the_rows(
    uow: UnitOfWork, stranger: Reader, clock: FixedClock
) -> None:
    with uow.begin() as session:
        ticks.beat(session, "worker", "one", clock.now())
    clock.advance(timedelta(seconds=42))
    found = _figures(stranger)
    assert found["stellwerk_heartbeat_age_seconds", "worker"] == 42
    assert found["stellwerk_step_runs_due", ""] == 0
    assert found["stellwerk_sends_queued", ""] == 0
    for status in ("running", "completed", "cancelled"):
        assert found["stellwerk_runs", status] == 0


def test_runs_are_counted_over_all_automations(
    uow: UnitOfWork, stranger: Reader, clock: FixedClock
) -> None:
    world = World(uow, clock, people=3)
    world.live(make.branch("ask", yes="end"), make.delay("wait"))
    world.live(make.delay("wait"))
    world.fire()
    world.walker.sweep()
    found = _figures(stranger)
    counted = [found["stellwerk_runs", status] for status in ("running", "completed", "cancelled")]
    assert counted == [4, 2, 0]


def test_requests_are_counted_by_endpoint_and_never_by_address(
    app: Flask, stranger: Reader
) -> None:
    stranger.get("/health/live")
    stranger.get("/secret@person.example")
    figures = stranger.get("/metrics").text
    assert 'endpoint="health.live",method="GET"' in figures
    assert "person.example" not in figures


def test_figures_name_nobody(acme: Town, owner: Reader) -> None:
    owner.get("/api-keys")
    figures = owner.get("/metrics").text
    for word in (acme.name, *acme.people.values(), *acme.ids.values()):
        assert word not in figures
