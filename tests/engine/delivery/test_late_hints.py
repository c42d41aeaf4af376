"""A hint that comes before the sweep never sends a mail again whose outcome nobody knows."""

import pytest

from engine.delivery.walk_lifecycle import LEASE, OUTCOME_UNKNOWN
from tests.engine.delivery.post import Post
from tests.fakes.transports import Killed


def test_a_mail_that_was_being_handed_over_is_left_to_the_sweep(post: Post) -> None:
    (row_id,) = post.queue()
    post.transport.behind = [Killed()]
    with pytest.raises(Killed):
        post.walk([row_id])
    post.clock.advance(LEASE)
    assert post.walk([row_id]) == {}
    assert post.walk() == {}
    assert len(post.transport.letters) == 1
    post.walker.sweep()
    send = post.send(row_id)
    assert (send.status, send.error_code, send.attempt) == ("failed", OUTCOME_UNKNOWN, 1)
