"""A hand-over that keeps the effects it gets instead of putting them into a queue."""

from collections.abc import Sequence
from typing import TypeVar

from engine.core.effects import Effect

EffectT = TypeVar("EffectT", bound=Effect)


class RecordingDispatch:
    """Use as `effects.Dispatch`; `broken = True` makes each hand-over fail as a lost queue does."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.broken = False

    def __call__(self, effects: Sequence[Effect]) -> None:
        """Keep the effects of one commit."""
        if self.broken:
            raise ConnectionError("the queue is away")
        self.effects.extend(effects)

    def of(self, kind: type[EffectT]) -> list[EffectT]:
        """Return the effects of one class, in the order they came."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def take(self) -> list[Effect]:
        """Return everything and forget it."""
        taken, self.effects = self.effects, []
        return taken
