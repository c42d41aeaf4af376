"""Typed look-up of kinds by their stored name. Registries are plain dict literals."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

KindT = TypeVar("KindT")


class UnknownKind(LookupError):
    """A stored or sent name that no kind answers to."""

    def __init__(self, family: str, name: str) -> None:
        super().__init__(f"unknown {family}: {name}")
        self.family = family
        self.name = name


class Registry(Generic[KindT]):
    """The kinds of one family, for example the step kinds."""

    def __init__(self, family: str, kinds: Mapping[str, KindT]) -> None:
        self.family = family
        self._kinds = dict(kinds)

    def get(self, name: str) -> KindT:
        """Return the kind stored as `name`; raises UnknownKind."""
        try:
            return self._kinds[name]
        except KeyError:
            raise UnknownKind(self.family, name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def items(self) -> Iterator[tuple[str, KindT]]:
        """Return (stored name, kind) in registry order."""
        return iter(self._kinds.items())
