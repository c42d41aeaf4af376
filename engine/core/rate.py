"""Rates shared by all processes: tokens of a time window, leased from the database.

A caller leases some tokens at once and spends them by itself, so a busy key costs few writes.
"""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Integer, String, case, delete, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from engine.core.db import Base, Instant, upsert


class RateWindow(Base):
    """How many tokens of `key` are taken in the window that began at `started_at`."""

    __tablename__ = "rate_windows"

    key: Mapped[str] = mapped_column(String(160), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(Instant)
    used: Mapped[int] = mapped_column(Integer)


def window_start(at: datetime, window: timedelta) -> datetime:
    """Return the start of the window that `at` lies in; windows are aligned to the epoch."""
    seconds = window.total_seconds()
    return datetime.fromtimestamp(at.timestamp() // seconds * seconds, UTC)


def lease(
    session: Session, key: str, limit: int, window: timedelta, at: datetime, want: int = 1
) -> int:
    """Take up to `want` of the `limit` tokens of `key` in the current window.

    Returns how many were granted, 0 when the window is used up. One atomic statement.
    """
    start = window_start(at, window)
    statement = upsert(session, RateWindow).values(key=key, started_at=start, used=want)
    fresh = RateWindow.started_at != start
    statement = statement.on_conflict_do_update(
        index_elements=["key"],
        set_={"started_at": start, "used": case((fresh, want), else_=RateWindow.used + want)},
    )
    used = session.execute(statement.returning(RateWindow.used)).scalar_one()
    return max(0, min(want, limit - (used - want)))


def give_back(session: Session, key: str, window: timedelta, at: datetime) -> None:
    """Return one token of `key` to the current window, as if it had not been taken."""
    session.execute(
        update(RateWindow)
        .where(
            RateWindow.key == key,
            RateWindow.started_at == window_start(at, window),
            RateWindow.used > 0,
        )
        .values(used=RateWindow.used - 1)
        .execution_options(synchronize_session=False)
    )


def retry_after(window: timedelta, at: datetime) -> int:
    """Return the whole seconds until the current window ends, at least 1."""
    end = window_start(at, window) + window
    return max(1, int((end - at).total_seconds()) + 1)


def forget(session: Session, at: datetime) -> int:
    """Delete windows older than a day; return how many went."""
    gone = delete(RateWindow).where(RateWindow.started_at < at - timedelta(days=1))
    return len(session.execute(gone.returning(RateWindow.key)).all())
