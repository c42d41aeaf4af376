"""Public ids: letters and digits, evenly drawn, never twice."""

from collections import Counter

import pytest

from engine.core.ids import (
    ALPHABET,
    PUBLIC_ID_LENGTH,
    is_public_id,
    new_public_id,
    new_public_ids,
)


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_ids_are_drawn_for_a_whole_batch(count: int) -> None:
    drawn = new_public_ids(count)
    assert len(drawn) == len(set(drawn)) == count
    assert all(len(each) == PUBLIC_ID_LENGTH and is_public_id(each) for each in drawn)


def test_every_letter_and_digit_is_as_likely_as_every_other() -> None:
    found = Counter("".join(new_public_ids(20_000)))
    assert set(found) == set(ALPHABET)
    even = 20_000 * PUBLIC_ID_LENGTH / len(ALPHABET)
    # Eight standard deviations: a letter that two bytes in 256 favour would be far outside.
    assert max(abs(count - even) for count in found.values()) < 8 * even**0.5


def test_two_calls_answer_two_ids() -> None:
    assert new_public_id() != new_public_id()
