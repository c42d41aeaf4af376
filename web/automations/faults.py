"""What is wrong with a form of the rail: each fault at its field, and in the list at the top."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.outcome import Problem, Refused
from web.automations import messages


@dataclass
class Way:
    """One way out as a select field. value: a key, `end`, or '' for the next in order."""

    name: str
    label: str
    value: str
    options: Sequence[tuple[str, str]]
    wrong: str = ""


@dataclass(frozen=True)
class Mistake:
    """One line of the list at the top. field: the id of the element, '' where none is at fault."""

    field: str
    label: str
    words: str


def place(
    refused: Refused | None, where: str, form: Any, kind: Any, ways: Sequence[Way]
) -> list[Mistake]:
    """Put each fault on its field or way; return those that belong to none."""
    if refused is None:
        return []
    if not refused.problems:
        return [Mistake("", "", messages.reason(refused))]
    by_name = {way.name: way for way in ways}
    left = []
    for fault in refused.problems:
        path = _path(fault, where)
        words = messages.problem(fault)
        field = None
        if path and path[0] in by_name and len(path) == 1:
            by_name[path[0]].wrong = words
            continue
        if path and form is not None:
            field = kind.blame(form, path) if kind is not None else form._fields.get(path[0])
        if field is None:
            left.append(Mistake("", "", words))
        else:
            field.errors = (*field.errors, words)
    return left


def _path(fault: Problem, where: str) -> list[str]:
    """Return the parts of a pointer below `where`, without `config`; [] for one elsewhere."""
    if not fault.pointer.startswith(f"{where}/"):
        return []
    parts = fault.pointer[len(where) + 1 :].split("/")
    parts = [part.replace("~1", "/").replace("~0", "~") for part in parts]
    return parts[1:] if parts[0] == "config" else parts


def of_form(form: Any) -> Iterator[Mistake]:
    """Yield the faults of the fields of a form and of its parts."""
    for field in form:
        if hasattr(field, "entries"):
            for line in field.entries:
                yield from of_form(line.form)
        elif field.errors:
            yield Mistake(field.id, field.label.text, " ".join(map(str, field.errors)))
    for part in getattr(form, "parts", {}).values():
        yield from of_form(part)


def of_ways(ways: Sequence[Way]) -> Iterator[Mistake]:
    """Yield the faults of the ways out."""
    for way in ways:
        if way.wrong:
            yield Mistake(f"way-{way.name}", way.label, way.wrong)
