"""The four queues. A hint carries the name of a task, ids and numbers as JSON, never code.

Results, retries and revocations of the queue stay off: rows know the outcome and the next try.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from huey import Huey
from huey.registry import Message, Registry
from huey.serializer import Serializer
from redis.exceptions import RedisError

from engine.core import clock
from engine.core.settings import Settings
from tasks.storage import QueueFile, QueueRedis

ENGINE: Final = "engine"
TRANSACTIONAL: Final = "transactional"
CAMPAIGN: Final = "campaign"
AGENT: Final = "agent"
NAMES: Final = (ENGINE, TRANSACTIONAL, CAMPAIGN, AGENT)
QUEUE_FILE: Final = "queue.db"

Argument = int | str | Sequence[int]
Body = Callable[..., object]


class HandOverFailed(OSError):
    """The queue did not take a hint. The commit stands; a sweep finds the same rows."""


class NotAHint(ValueError):
    """A message holds something other than a task's name, ids and numbers."""


class HintSerializer(Serializer):  # type: ignore[misc] # published without types
    """Writes and reads hints as JSON: whoever can write to the queue can only say "look now"."""

    def serialize(self, data: Message) -> bytes:
        """Return a hint as JSON. Raises NotAHint for content."""
        _check(data.args)
        if data.kwargs or data.on_complete or data.on_error or data.chord_config:
            raise NotAHint(data.name)
        eta = data.eta.isoformat() if data.eta else None
        return json.dumps([data.id, data.name, eta, data.priority, data.args]).encode()

    def deserialize(self, data: bytes) -> Message:
        """Return the hint of a message. Raises NotAHint for anything else."""
        try:
            identity, name, eta, priority, arguments = json.loads(data)
            due = datetime.fromisoformat(eta) if eta else None
        except (ValueError, TypeError) as error:
            raise NotAHint("unreadable") from error
        if not isinstance(arguments, list):
            raise NotAHint(name)
        _check(arguments)
        return Message(
            id=identity, name=name, eta=due, retries=0, priority=priority, args=tuple(arguments)
        )


def _check(arguments: Sequence[object]) -> None:
    for argument in arguments:
        several = argument if isinstance(argument, list | tuple) else ()
        if not isinstance(argument, int | str | list | tuple) or not all(
            isinstance(one, int) for one in several
        ):
            raise NotAHint(f"{type(argument).__name__} in a hint")


class _Names(Registry):  # type: ignore[misc] # published without types
    """Knows a task by its explicit name alone, so that moving a module strands no hint."""

    def task_to_string(self, task_class: type) -> str:
        return task_class.__name__


class HintQueue(Huey):  # type: ignore[misc] # published without types
    """Huey on the engine's clock, with results and revocations left out."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._settings = settings
        super().__init__(name, results=False, serializer=HintSerializer())
        self._registry = _Names()

    def create_storage(self) -> QueueFile | QueueRedis:
        """Return the store of this queue; opens nothing yet."""
        if self._settings.redis_url is not None:
            return QueueRedis(self.name, self._settings.redis_url.get_secret_value())
        return QueueFile(self.name, self._settings.home / QUEUE_FILE)

    def _get_timestamp(self) -> datetime:
        # Aware, and moved with the test clock (decision G12), so that an ETA means the rows' time.
        return clock.now()

    def is_revoked(self, *_asked: Any, **_options: Any) -> bool:
        """Return False: a hint that is not wanted any more finds no due row."""
        return False

    def delete(self, key: str) -> None:
        """Do nothing: nothing is stored beside the hints."""


@dataclass(frozen=True)
class TaskKind:
    """A task: the name its hints bear for ever, and what it does with (house, *arguments)."""

    name: str
    body: Body


class Queues:
    """The four queues of one process. The web only hands over; a worker also serves."""

    def __init__(self, settings: Settings, kinds: Sequence[TaskKind]) -> None:
        self._house: object = None
        self.by_name: Mapping[str, HintQueue] = {name: HintQueue(name, settings) for name in NAMES}
        self._tasks = {
            (name, kind.name): huey.task(name=kind.name, retries=0)(self._bound(kind.body))
            for name, huey in self.by_name.items()
            for kind in kinds
        }

    def _bound(self, body: Body) -> Body:
        def run(*arguments: Argument) -> object:
            if self._house is None:
                raise RuntimeError("queues serve only after attach()")
            return body(self._house, *arguments)

        return run

    def attach(self, house: object) -> None:
        """Give the tasks of this process the house they work in."""
        self._house = house

    def put(
        self,
        queue: str,
        task: str,
        arguments: Sequence[Argument],
        due_at: datetime | None = None,
        priority: int | None = None,
    ) -> None:
        """Put one hint into a queue; with `due_at` into its schedule.

        Raises HandOverFailed, whatever the store raised: the engine logs an OSError and goes on.
        """
        huey = self.by_name[queue]
        hint = self._tasks[queue, task].task_class(tuple(arguments), eta=due_at, priority=priority)
        try:
            if due_at is None:
                huey.enqueue(hint)
            else:
                huey.add_schedule(hint)
        except (sqlite3.Error, RedisError, OSError) as error:
            raise HandOverFailed(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Let go of files and connections."""
        for huey in self.by_name.values():
            huey.storage.close()
