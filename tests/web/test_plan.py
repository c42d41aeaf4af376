"""The track plan: which lines a row draws, where the lanes lie, which way is lit."""

from web.plan import LANE, Exit, PlanRow, Track, lay


def _row(key: str, *targets: int, taken: int | None = None) -> PlanRow:
    return PlanRow(key, "stop", key, exits=tuple(Exit(t, "", taken=t == taken) for t in targets))


def _lines(track: Track) -> list[int]:
    """How far left of the main line each line below a row lies, in lanes."""
    return sorted((track.main - line.x) // LANE for line in track.rest)


def test_a_straight_line_needs_no_lane_and_ends_at_the_buffer_stop() -> None:
    tracks = lay([_row("start", 1), _row("mail", 2), _row("end")])
    assert [_lines(track) for track in tracks] == [[0], [0], []]


def test_a_branch_swings_out_and_comes_back_where_the_ways_meet() -> None:
    tracks = lay([_row("start", 1), _row("branch", 3, 2), _row("mail", 3), _row("end")])
    assert [_lines(track) for track in tracks] == [[0], [0, 1], [0, 1], []]


def test_no_main_line_runs_where_no_way_leads_on() -> None:
    tracks = lay([_row("start", 1), _row("branch", 2, 3), _row("mail", 4), _row("x", 4), _row("e")])
    assert 0 not in _lines(tracks[2])


def test_a_nested_branch_has_the_inner_lane_and_never_shares_the_outer_one() -> None:
    nested = [_row("outer", 5, 2), _row("inner", 4, 3), _row("a", 4), _row("b", 5)]
    tracks = lay([_row("start", 1), *nested, _row("end")])
    assert [_lines(track) for track in tracks] == [[0], [0, 2], [0, 1, 2], [0, 1, 2], [0, 2], []]


def test_ways_to_the_same_end_share_one_lane() -> None:
    tracks = lay([_row("start", 1), _row("a", 4, 2), _row("b", 4, 3), _row("c", 4), _row("end")])
    assert [_lines(track) for track in tracks] == [[0], [0, 1], [0, 1], [0, 1], []]


def test_a_jump_back_returns_upwards_in_a_lane_of_its_own() -> None:
    tracks = lay([_row("start", 1), _row("a", 2), _row("b", 3), _row("c", 1, 4), _row("end")])
    assert [any(line.back for line in track.rest) for track in tracks] == [
        False, True, True, False, False,
    ]  # fmt: skip
    assert any(piece.tip for piece in tracks[2].head)


def test_a_step_that_leads_to_itself_draws_its_loop_in_its_own_row_only() -> None:
    tracks = lay([_row("start", 1), _row("again", 1, 2), _row("end")])
    assert [any(piece.back for piece in track.head) for track in tracks] == [False, True, False]


def test_only_the_way_a_person_went_is_lit() -> None:
    rows = [_row("s", 1, taken=1), _row("branch", 3, 2, taken=3), _row("mail", 3), _row("end")]
    tracks = lay(rows)
    lit = [[(t.main - line.x) // LANE for line in t.rest if line.taken] for t in tracks]
    assert lit == [[0], [1], [1], []]


def test_all_rows_of_sixty_steps_with_many_branches_have_one_width() -> None:
    rows = [_row(str(n), min(n + 2 + n % 9, 61), n + 1) for n in range(60)]
    rows += [_row("last", 61), _row("end")]
    assert len({track.width for track in lay(rows)}) == 1
    assert all(line.x > 0 for track in lay(rows) for line in track.rest)
