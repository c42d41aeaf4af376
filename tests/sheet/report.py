"""The sheet itself: pictures in the order of the addresses, with what is wrong on top."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Literal

_STYLE = (
    "body{font:14px system-ui;margin:1rem;background:#888}"
    "section{display:flex;gap:1rem;align-items:start;overflow-x:auto;padding-bottom:1rem}"
    "figure{margin:0;background:#fff;padding:.25rem}"
    "img{display:block;max-width:40rem;max-height:48rem}"
)


@dataclass(frozen=True)
class Look:
    """How a page is looked at. width: CSS pixels of the screen."""

    name: str
    width: int
    scheme: Literal["light", "dark"]
    language: str


@dataclass(frozen=True)
class Shot:
    """A picture. state: of the workspace; fault: what is wrong in a few words, or None."""

    look: Look
    state: str
    address: str
    file: str
    status: int
    fault: str | None


def write(folder: Path, shots: Sequence[Shot]) -> None:
    """Write index.html into the folder of the pictures."""
    faults = [f"<li>{_named(shot)}: {escape(shot.fault)}</li>" for shot in shots if shot.fault]
    ordered = sorted(shots, key=lambda shot: shot.address)
    parts = [
        f"<h2>{escape(address)}</h2><section>{''.join(map(_figure, same))}</section>"
        for address, same in groupby(ordered, key=lambda shot: shot.address)
    ]
    (folder / "index.html").write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>All pages</title>"
        f"<style>{_STYLE}</style><h1>All pages</h1><ul>{''.join(faults)}</ul>{''.join(parts)}",
        encoding="utf-8",
    )


def _figure(shot: Shot) -> str:
    return (
        f'<figure><a href="{shot.file}"><img src="{shot.file}" loading="lazy"'
        f' alt="{_named(shot)}"></a><figcaption>{_named(shot)}, {shot.status}</figcaption></figure>'
    )


def _named(shot: Shot) -> str:
    look = shot.look
    return escape(
        f"{shot.address} · {shot.state} · {look.width} px, {look.scheme}, {look.language}"
    )
