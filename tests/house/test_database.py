"""Each test has a database of its own on the leg's server."""

import pytest
from sqlalchemy import create_engine, text

from tests.support.leg_plugin import Leg


@pytest.mark.parametrize("turn", [1, 2])
def test_a_database_belongs_to_one_test(database_url: str, leg: Leg, turn: int) -> None:
    engine = create_engine(database_url)
    assert engine.dialect.name == ("sqlite" if leg == "sqlite" else "postgresql")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (turn INTEGER)"))
        connection.execute(text(f"INSERT INTO mine VALUES ({turn})"))
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM mine")) == 1
        assert connection.scalar(text("SELECT count(*) FROM alembic_version")) == 1
    engine.dispose()


def test_the_second_leg_has_a_redis_of_its_own(redis_url: str | None, leg: Leg) -> None:
    assert (redis_url is None) == (leg == "sqlite")
