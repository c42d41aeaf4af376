"""Picking elements of a parsed page by the plain part of CSS: tag, #id, .class, [name=value]."""

import re
from typing import Final

from lxml.html import HtmlElement

_PART: Final = re.compile(
    r"(?P<kind>[#.]?)(?P<name>[\w-]+)|\[(?P<key>[\w-]+)(?:=(?P<value>[^\]]*))?\]"
)


def pick(node: HtmlElement, selector: str) -> list[HtmlElement]:
    """Return the descendants that match, in the order of the page; a space means: inside."""
    path = "." + "".join(f"//{_step(part)}" for part in selector.split())
    return list(node.xpath(path))


def one(node: HtmlElement, selector: str) -> HtmlElement:
    """Return the only descendant that matches."""
    found = pick(node, selector)
    assert len(found) == 1, f"{selector}: {len(found)}"
    return found[0]


def words(node: HtmlElement) -> str:
    """Return the text of an element with single spaces, also where two elements meet."""
    return " ".join(" ".join(node.itertext()).split())


def texts(node: HtmlElement, selector: str) -> list[str]:
    """Return the texts of all descendants that match."""
    return [words(found) for found in pick(node, selector)]


def _step(part: str) -> str:
    tag, conditions = "*", []
    for found in _PART.finditer(part):
        kind, name = found["kind"], found["name"]
        if found["key"]:
            value = found["value"]
            conditions.append(f"@{found['key']}" + ("" if value is None else f"='{value}'"))
        elif kind == "#":
            conditions.append(f"@id='{name}'")
        elif kind == ".":
            conditions.append(f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')")
        else:
            tag = name
    return tag + "".join(f"[{condition}]" for condition in conditions)
