"""Any history of lost hints, killed workers, refusals and time ends every mail, and none twice."""

from contextlib import suppress
from datetime import timedelta
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.delivery.kinds.base import SERVER_ERROR, Rejected, Unanswered
from engine.delivery.models import FAILED, SENT
from engine.delivery.walk_lifecycle import LEASE_LOST, OUTCOME_UNKNOWN
from tests.engine.delivery.post import Post
from tests.fakes.transports import Killed

LATER: Final = Rejected(SERVER_ERROR, "451 later", temporary=True)
ACTS: Final = st.one_of(
    st.sampled_from(["hint", "sweep", "doubled hint"]),
    st.sampled_from(["refused", "silent", "killed before", "killed behind"]),
    st.sampled_from([1, 5, 30, 121]),
)


def act(post: Post, ids: list[int], what: str | int) -> None:
    """Let one thing happen."""
    match what:
        case int():
            post.clock.advance(timedelta(seconds=what))
        case "hint" | "doubled hint":
            for _ in range(1 + what.startswith("doubled")):
                post.walk(ids)
        case "sweep":
            post.walker.sweep()
        case "refused":
            post.transport.before.append(LATER)
        case "silent":
            post.transport.behind.append(Unanswered("nothing"))
        case _:
            script = post.transport.before if what == "killed before" else post.transport.behind
            script.append(Killed())
            post.walk(ids)


@settings(max_examples=40)
@given(acts=st.lists(ACTS, max_size=12))
def test_any_history_ends_every_mail_and_none_twice(post: Post, acts: list[str | int]) -> None:
    post.transport.letters.clear()
    post.transport.before.clear()
    post.transport.behind.clear()
    post.clock.advance(timedelta(hours=1))
    ids = post.queue(3)
    for what in acts:
        with suppress(Killed):
            act(post, ids, what)
    post.transport.before.clear()
    post.transport.behind.clear()
    for _ in range(6):
        post.clock.advance(timedelta(seconds=121))
        post.walker.sweep()
    sends = [post.send(row_id) for row_id in ids]
    left = [letter.public_id for letter in post.transport.letters]
    assert len(left) == len(set(left))
    for send in sends:
        assert send.status in {SENT, FAILED}
        assert send.attempt <= 4
        assert (send.public_id in left) == (
            send.status == SENT or send.error_code == OUTCOME_UNKNOWN
        )
        if send.status == FAILED:
            assert send.error_code in {OUTCOME_UNKNOWN, LEASE_LOST, SERVER_ERROR}
