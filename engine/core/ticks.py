"""Periodic work of many workers: a tick is claimed once in the database (decision G8), and every
process that should be alive leaves a heartbeat that the console reads."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import String, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from engine.core.db import Base, Id, Instant, upsert

# A worker that has not been seen for this long counts as gone (console check 40).
SILENCE: Final = timedelta(seconds=60)
KEPT: Final = timedelta(days=2)


class Tick(Base):
    """One claimed tick: this job at this instant was taken by somebody."""

    __tablename__ = "ticks"

    job: Mapped[str] = mapped_column(String(60), primary_key=True)
    instant: Mapped[datetime] = mapped_column(Instant, primary_key=True)
    claimed_at: Mapped[datetime] = mapped_column(Instant)


class Heartbeat(Base):
    """When a process of a role (`worker`, `timetable`) was last seen."""

    __tablename__ = "heartbeats"

    id: Mapped[int] = mapped_column(Id, primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(120), unique=True)
    started_at: Mapped[datetime] = mapped_column(Instant)
    seen_at: Mapped[datetime] = mapped_column(Instant)


@dataclass(frozen=True)
class Pulse:
    """The newest heartbeat of a role: when, and whether it is fresh enough."""

    seen_at: datetime | None
    alive: bool


def claim(session: Session, job: str, instant: datetime, at: datetime) -> bool:
    """Return whether this caller is the one to run `job` for the tick at `instant`."""
    statement = (
        upsert(session, Tick)
        .values(job=job, instant=instant, claimed_at=at)
        .on_conflict_do_nothing()
        .returning(Tick.job)
    )
    return session.execute(statement).first() is not None


def forget(session: Session, at: datetime) -> int:
    """Delete old ticks and long silent heartbeats; return how many rows went."""
    ticks = session.execute(delete(Tick).where(Tick.claimed_at < at - KEPT).returning(Tick.job))
    beats = session.execute(
        delete(Heartbeat).where(Heartbeat.seen_at < at - KEPT).returning(Heartbeat.id)
    )
    return len(ticks.all()) + len(beats.all())


def beat(session: Session, role: str, name: str, at: datetime) -> None:
    """Note that the process `name` of `role` is alive at `at`."""
    statement = upsert(session, Heartbeat).values(role=role, name=name, started_at=at, seen_at=at)
    session.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"seen_at": at}))


def leave(session: Session, name: str) -> None:
    """Take the heartbeat of `name` away: that process has ended as it should."""
    session.execute(delete(Heartbeat).where(Heartbeat.name == name))


def pulse(session: Session, role: str, at: datetime) -> Pulse:
    """Return the newest heartbeat of `role`."""
    seen_at = session.scalar(
        select(Heartbeat.seen_at)
        .where(Heartbeat.role == role)
        .order_by(Heartbeat.seen_at.desc())
        .limit(1)
    )
    return Pulse(seen_at, seen_at is not None and at - seen_at <= SILENCE)
