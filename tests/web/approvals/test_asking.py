"""Asking for approval: what is refused says why and keeps what was typed."""

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import asking
from tests.factories import automations as making
from tests.web.approvals.desks import ask, main, said
from tests.web.automations.editing import SWAP, Desk, fields
from tests.web.automations.running import Running
from tests.web.picking import one, pick, words
from tests.web.support import Reader, Town, tree


def test_what_cannot_be_asked_says_why_and_keeps_the_note(
    draft: Desk, editor: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    form = fields(editor.get(f"{draft.page}?ask=request"), "/approvals")
    with uow.begin() as session:
        raw = making.document(making.email("mail", None))
        asking.change(session, acme.workspace_id, draft.public_id, raw, clock.now())
    refused = editor.post("/approvals", {**form, "note": "Please"})
    assert refused.status_code == 409
    page = tree(refused)
    assert "Nothing was asked for yet. It cannot go live" in words(page)
    assert one(page, "#mistakes li a").get("href") == f"{draft.page}?step=mail#at-mail"
    assert words(one(page, "textarea")) == "Please"
    long = editor.post("/approvals", {**form, "note": "x" * 1001})
    assert long.status_code in {409, 422}
    assert len(words(one(tree(long), "textarea"))) == 1001


def test_a_note_that_is_too_long_is_422_with_its_sentence(draft: Desk, editor: Reader) -> None:
    long = ask(draft, note="x" * 1001)
    assert long.status_code == 422
    assert "The text may have at most 1000 characters." in main(long)


def test_a_publish_is_asked_of_the_draft_that_was_seen(waits: Running, editor: Reader) -> None:
    waits.save(making.delay("wait", 4))
    form = fields(editor.get(f"{waits.page}/publish"), "/approvals")
    waits.save(making.delay("wait", 3))
    refused = editor.post("/approvals", form)
    assert refused.status_code == 409
    assert "The draft was changed in the meantime." in main(refused)


def test_asking_twice_is_one_request(draft: Desk, editor: Reader, admin: Reader) -> None:
    form = fields(editor.get(f"{draft.page}?ask=request"), "/approvals")
    editor.post("/approvals", form)
    assert editor.post("/approvals", form).status_code == 303
    assert said(editor, draft.page)[-1] == (
        "This has been asked for already and waits for a decision."
    )
    assert len(pick(tree(admin.get("/approvals")), "tbody tr")) == 1


def test_an_edit_of_ones_own_says_at_once_that_it_has_to_be_asked_anew(draft: Desk) -> None:
    ask(draft)
    saved = draft.edit("?step=wait", "/steps/wait", duration="7")
    page = tree(draft.reader.get(draft.page))
    assert saved.status_code == 303
    assert "cannot be granted any more" in words(one(page, "#asked"))
    again = draft.send("/steps/wait", {**draft.form("?step=wait", "/steps/wait"), "duration": "5"},
                       **SWAP)  # fmt: skip
    assert "Nobody has decided yet." in words(one(tree(again), "#asked"))
