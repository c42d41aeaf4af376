"""The track plan: where each row's piece of track runs, as SVG paths per row.

Owns the geometry only. A row draws its own piece (a head of fixed height that carries the
station and every curve, and straight lines below that stretch with the card), so the lines
follow real heights. What the rows say comes from the view.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LANE = 16
"""Distance of two lanes in px."""
HEAD = 56
"""Height of the drawn head of a row in px; a row is never lower."""
NODE = 28
"""Height of the station's middle within the head."""
_MARGIN = 14
_MOST_LANES = 6


@dataclass(frozen=True)
class Exit:
    """One way out of a station: `target` is the index of a row, `word` names it ("yes")."""

    target: int
    title: str
    word: str | None = None
    taken: bool = False


@dataclass(frozen=True)
class Insert:
    """A place for a new step. place: as the editor reads it; word: the exit that leads there."""

    place: str
    word: str | None = None


@dataclass(frozen=True)
class PlanRow:
    """One station as the plan macro shows it.

    shape: start, stop, wait, points (a branch) or end (the buffer stop).
    count: people standing here, with `count_word`; None where nobody can stand.
    state: only on a run's plan: done, waiting, failed, skipped, ahead.
    since: how long after entering people are here; inserts: only in the editor, where a step may
    stand behind this one.
    """

    key: str
    shape: str
    title: str
    note: str = ""
    exits: tuple[Exit, ...] = ()
    count: int | None = None
    count_word: str = ""
    state: str | None = None
    since: str = ""
    inserts: tuple[Insert, ...] = ()


@dataclass(frozen=True)
class Piece:
    """A path within a row's head.

    taken: the way a person went; back: a jump upwards; tip: the arrow upon such a jump.
    """

    path: str
    taken: bool = False
    back: bool = False
    tip: bool = False


@dataclass(frozen=True)
class Line:
    """A straight line from the head down to the next row, at `x`."""

    x: int
    taken: bool = False
    back: bool = False


@dataclass(frozen=True)
class Track:
    """One row's piece of track: `width` and `main` (the main line's x) are equal in all rows."""

    width: int
    main: int
    head: tuple[Piece, ...]
    rest: tuple[Line, ...]


@dataclass(frozen=True)
class _Siding:
    """All exits that lead to one target in one direction share a lane."""

    target: int
    sources: tuple[int, ...]
    taken: frozenset[int]

    @property
    def back(self) -> bool:
        return self.target <= self.sources[0]

    @property
    def first(self) -> int:
        return min(self.target, self.sources[0])

    @property
    def last(self) -> int:
        return max(self.target, self.sources[-1])

    def taken_below(self, row: int) -> bool:
        """Whether the person's way uses this lane between `row` and the next."""
        if self.back:
            return any(source > row >= self.target for source in self.taken)
        return any(source <= row < self.target for source in self.taken)


def lay(rows: Sequence[PlanRow]) -> tuple[Track, ...]:
    """The piece of track of every row, in order.

    rows: stations from the trigger to the buffer stop; an exit to the row right below is the
    main line, every other one a lane at the side (short ones inside, so nested branches stay
    apart; exits to the same target share a lane).
    """
    lanes = _lanes(_sidings(rows))
    width = _MARGIN * 2 + LANE * max(lanes.values(), default=0)
    main = width - _MARGIN
    straight = [_straight(rows, index) for index in range(len(rows))]
    return tuple(_track(index, width, main, straight, lanes) for index in range(len(rows)))


def _sidings(rows: Sequence[PlanRow]) -> list[_Siding]:
    found: dict[tuple[int, bool], dict[int, bool]] = {}
    for source, row in enumerate(rows):
        for way in row.exits:
            if way.target == source + 1:
                continue
            sources = found.setdefault((way.target, way.target <= source), {})
            sources[source] = sources.get(source, False) or way.taken
    return [
        _Siding(target, tuple(sorted(sources)), frozenset(s for s, t in sources.items() if t))
        for (target, _back), sources in found.items()
    ]


def _lanes(sidings: Iterable[_Siding]) -> dict[_Siding, int]:
    placed: dict[_Siding, int] = {}
    for siding in sorted(sidings, key=lambda s: (s.last - s.first, s.first)):
        taken = {lane for other, lane in placed.items() if _touch(siding, other)}
        free = next(n for n in range(1, len(placed) + 2) if n not in taken)
        placed[siding] = min(free, _MOST_LANES)
    return placed


def _touch(one: _Siding, other: _Siding) -> bool:
    if one.back or other.back:
        return one.first <= other.last and other.first <= one.last
    return one.first < other.last and other.first < one.last


def _straight(rows: Sequence[PlanRow], index: int) -> tuple[bool, bool]:
    """(is there a main line to the next row, was it taken)."""
    ways = [way for way in rows[index].exits if way.target == index + 1]
    return bool(ways), any(way.taken for way in ways)


def _track(
    row: int,
    width: int,
    main: int,
    straight: Sequence[tuple[bool, bool]],
    lanes: dict[_Siding, int],
) -> Track:
    head: list[Piece] = []
    rest: list[Line] = []
    above, above_taken = straight[row - 1] if row else (False, False)
    below, below_taken = straight[row]
    if above:
        head.append(Piece(f"M{main} 0V{NODE}", above_taken))
    if below:
        head.append(Piece(f"M{main} {NODE}V{HEAD}", below_taken))
        rest.append(Line(main, below_taken))
    for siding, lane in lanes.items():
        x = main - LANE * lane
        if siding.first <= row < siding.last:
            rest.append(Line(x, siding.taken_below(row), siding.back))
        head.extend(_siding_head(siding, row, x, main))
    # The way a person went lies on top of the tracks beside it.
    return Track(
        width, main, tuple(sorted(head, key=_on_top)), tuple(sorted(rest, key=_line_on_top))
    )


def _siding_head(siding: _Siding, row: int, x: int, main: int) -> list[Piece]:
    """The curves and the passing line of one siding within the head of `row`."""
    came = siding.taken_below(row - 1)
    goes = siding.taken_below(row)
    swing_down = f"M{main} {NODE}C{main} {NODE + 20} {x} {HEAD - 20} {x} {HEAD}"
    swing_up = f"M{main} {NODE}C{main} {NODE - 20} {x} 20 {x} 0"
    if siding.first == siding.last:
        if row != siding.target:
            return []
        low = NODE + 26
        high = NODE - 26
        loop = f"M{main} {NODE}C{main} {low} {x} {low} {x} {NODE}S{main} {high} {main} {NODE}"
        return [Piece(loop, bool(siding.taken), back=True)]
    pieces: list[Piece] = []
    if siding.first < row < siding.last:
        pieces.append(Piece(f"M{x} 0V{HEAD}", came and goes, siding.back))
        if siding.back:
            pieces.append(Piece(f"M{x - 4} {NODE + 3}l4 -6l4 6", came and goes, tip=True))
    if row == siding.target:
        pieces.append(Piece(swing_down, goes, back=True) if siding.back else Piece(swing_up, came))
    if row in siding.sources:
        used = row in siding.taken
        pieces.append(Piece(swing_up, used, back=True) if siding.back else Piece(swing_down, used))
    return pieces


def _on_top(piece: Piece) -> bool:
    return piece.taken


def _line_on_top(line: Line) -> bool:
    return line.taken
