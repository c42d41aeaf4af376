"""What the machine lacks is left out and said, or is a failure where everything is required."""

from pathlib import Path

import pytest

from tests import legs
from tests.support import programs

SECOND = "the whole leg on PostgreSQL and Redis"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Take away every place where programs are looked for but one empty folder."""
    monkeypatch.setattr(programs, "PLACES", (str(tmp_path),))
    monkeypatch.setattr(programs, "_postgres_places", list)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("STELLWERK_REQUIRE", raising=False)
    return tmp_path


def _install(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch(mode=0o755)


def test_a_missing_program_leaves_the_test_out(bare: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="left out: Chromium"):
        programs.need("Chromium", ("chromium",))


def test_a_missing_program_is_a_failure_where_everything_is_required(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STELLWERK_REQUIRE", "all")
    with pytest.raises(pytest.fail.Exception, match="STELLWERK_REQUIRE=all, but missing: Chromium"):
        programs.need("Chromium", ("chromium",))


def test_a_program_that_is_there_is_named_by_its_path(bare: Path) -> None:
    _install(bare, "chromium")
    assert programs.need("Chromium", ("chromium",)) == {"chromium": bare / "chromium"}


@pytest.mark.parametrize(
    ("there", "chosen", "left_out"),
    [
        (("postgres", "initdb", "redis-server"), ["sqlite", "postgres"], []),
        (
            ("redis-server",),
            ["sqlite"],
            ["the whole leg on PostgreSQL and Redis (no PostgreSQL here)"],
        ),
        (
            (),
            ["sqlite"],
            ["the whole leg on PostgreSQL and Redis (no PostgreSQL and no Redis here)"],
        ),
    ],
)
def test_the_second_leg_runs_where_its_servers_are(
    bare: Path, there: tuple[str, ...], chosen: list[str], left_out: list[str]
) -> None:
    _install(bare, *there)
    assert legs.choose(strict=False) == (chosen, left_out)


def test_a_missing_server_ends_the_run_where_everything_is_required(bare: Path) -> None:
    with pytest.raises(SystemExit, match="STELLWERK_REQUIRE=all, but missing"):
        legs.choose(strict=True)
