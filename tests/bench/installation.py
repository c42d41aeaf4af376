"""The product's part of a measurement: a workspace, its people, one live automation, its runs.

Everything is made by the product's own verbs, except that contacts are inserted in bulk.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from sqlalchemy import insert
from sqlalchemy.orm import Session

import engine.house
from engine.audience.models import TEXT, Contact, ContactPropertyValue
from engine.automations.effects import WalkSteps
from engine.automations.kinds.steps import STEPS
from engine.core import clock, events
from engine.core.effects import Dispatch, Effect
from engine.core.settings import Settings
from engine.house import House
from tests.factories import accounts, delivery
from tests.factories import automations as make

STEPS_A_RUN: Final = 4
_CHUNK: Final = 500


@dataclass(frozen=True)
class Installation:
    """An installation to be measured. redis_url None: the queue is a file in `home`."""

    home: Path
    database_url: str
    redis_url: str | None = None

    def settings(self) -> Settings:
        """Return the settings of a process of this installation."""
        return Settings(
            home=self.home,
            database_url=SecretStr(self.database_url),
            redis_url=SecretStr(self.redis_url) if self.redis_url else None,
            secret_key=SecretStr("a secret for benchmarks, 32 characters"),
        )

    @classmethod
    def from_env(cls) -> "Installation":
        """Return the installation that `env` describes to a child process."""
        found = Settings.from_env()
        redis = found.redis_url
        return cls(
            found.home,
            found.database.render_as_string(hide_password=False),
            redis.get_secret_value() if redis else None,
        )

    def env(self) -> Mapping[str, str]:
        """Return the environment that starts `stellwerk` on this installation."""
        named = {
            "STELLWERK_HOME": str(self.home),
            "STELLWERK_DATABASE_URL": self.database_url,
            "STELLWERK_SECRET_KEY": "a secret for benchmarks, 32 characters",
        }
        return named | ({"STELLWERK_REDIS_URL": self.redis_url} if self.redis_url else {})

    @contextmanager
    def house(self, dispatch: Dispatch | None = None) -> Iterator[House]:
        """Yield the started engine of a process."""
        started = engine.house.start(self.settings(), dispatch)
        try:
            yield started
        finally:
            started.close()


class Hints:
    """A hand-over that keeps the hints of steps in memory, for a walk inside this process."""

    def __init__(self) -> None:
        self.steps: deque[Sequence[int]] = deque()

    def __call__(self, effects: Sequence[Effect]) -> None:
        """Keep hints of steps that are due; mails stay queued, nobody sends them here."""
        for effect in effects:
            if isinstance(effect, WalkSteps) and effect.due_at is None:
                self.steps.append(effect.step_run_ids)


def workload(template_id: str, other_id: str) -> dict[str, Any]:
    """Return the document every engine runs: email, condition, change of the person, email."""
    return make.document(
        make.email("hello", template_id),
        make.branch("known"),
        _change() if "update_contact" in STEPS else make.branch("again"),
        make.email("goodbye", other_id),
        name="Benchmark",
    )


def _change() -> dict[str, Any]:
    config = {"changes": {"last_name": "Measured"}}
    return {"key": "change", "type": "update_contact", "config": config}


@dataclass(frozen=True)
class Prepared:
    """A workspace that is ready: its row id, and the row ids of its people."""

    workspace_id: int
    people: Sequence[int]


def prepare(house: House, people: int, document: dict[str, Any] | None = None) -> Prepared:
    """Make workspace, sender, template, automation and `people` contacts."""
    at = clock.now()
    with house.runtime.uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        delivery.sender(session, workspace_id)
        template_ids = [delivery.template(session, workspace_id).public_id for _ in range(2)]
        make.live(session, workspace_id, document or workload(*template_ids), at)
        return Prepared(workspace_id, contacts(session, workspace_id, people))


def contacts(session: Session, workspace_id: int, people: int) -> list[int]:
    """Insert contacts with their comparable values in bulk and return their row ids."""
    found: list[int] = []
    for start in range(0, people, 5_000):
        persons = [_person(number) for number in range(start, min(start + 5_000, people))]
        shared = {"workspace_id": workspace_id, "updated_at": clock.now()}
        rows = [{**shared, **_BLANK, **person, "created_at": clock.now()} for person in persons]
        ids = session.scalars(
            insert(Contact).returning(Contact.id, sort_by_parameter_order=True), rows
        ).all()
        values = [
            {**shared, "contact_id": contact_id, "key": key, "type": TEXT, **_comparable(text)}
            for contact_id, person in zip(ids, persons, strict=True)
            for key, text in (*person.items(), ("source", "api"))
            if key != "public_id"
        ]
        session.execute(insert(ContactPropertyValue), values)
        found.extend(ids)
    return found


_BLANK: Final = {"source": "api", "has_opened": False, "has_clicked": False}


def _person(number: int) -> dict[str, str]:
    return {
        "public_id": f"bench{number}",
        "email": f"person{number}@people.example",
        "first_name": "Ada" if number % 2 else "Bob",
    }


def _comparable(text: str) -> dict[str, str]:
    return {"text": text, "folded": text.lower()}


def fire(house: House, ready: Prepared, chunk: int = _CHUNK) -> int:
    """Record one event a person, in batches, and return how many runs the fan-out started."""
    started = 0
    for start in range(0, len(ready.people), chunk):
        at = clock.now()
        with house.runtime.uow.begin() as session:
            batch = [
                events.NewEvent(ready.workspace_id, contact_id, "event_received", "api", at, "go")
                for contact_id in ready.people[start : start + chunk]
            ]
            started += events.record(session, batch, at).started.total()
    return started
