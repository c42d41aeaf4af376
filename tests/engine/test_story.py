"""A person's story: every room's lines in one order, paged without gap or repeat."""

from datetime import timedelta

from engine.automations.walker import StepWalker
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.story import story
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make


def test_the_story_merges_every_room_newest_first(uow: UnitOfWork, clock: FixedClock) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        delivery.sender(session, workspace_id)
        template = delivery.template(session, workspace_id)
        raw = make.document(make.email("hello", template.public_id))
        make.live(session, workspace_id, raw, clock.now())
        person = audience.contact(session, workspace_id)
        clock.advance(timedelta(days=1))
        make.fire(session, workspace_id, [person], clock.now())
    clock.advance(timedelta(minutes=1))
    StepWalker(uow).sweep()

    with uow.read(workspace_id) as session:
        whole, end = story(session, workspace_id, person.row_id)
        paged, cursor = [], None
        for _ in range(len(whole)):
            page, cursor = story(session, workspace_id, person.row_id, cursor, limit=1)
            paged += page
    assert end is None
    assert cursor is None
    assert paged == whole
    assert [line.at for line in whole] == sorted((line.at for line in whole), reverse=True)
    assert {"contact_created", "event_received", "run_started", "run_completed"} <= {
        line.title_code for line in whole
    }
    assert any(line.kind == "send" for line in whole)


def test_a_cursor_that_was_never_written_is_none(uow: UnitOfWork, clock: FixedClock) -> None:
    with uow.begin() as session:
        workspace_id = accounts.workspace(session).id
        person = audience.contact(session, workspace_id)
    with uow.read(workspace_id) as session:
        first, _ = story(session, workspace_id, person.row_id)
        for cursor in ("nonsense", "W10", "\x00", "a" * 400):
            assert story(session, workspace_id, person.row_id, cursor)[0] == first
    assert clock.now() >= first[0].at
