"""The pages of requests: an editor asks, an admin decides with the difference in sight."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from engine.automations import service
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import asking
from tests.factories import automations as making
from tests.web.approvals.desks import ask, decide, main, open_request, said, signed_in
from tests.web.automations.editing import Desk
from tests.web.automations.running import Running
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree

DAY = timedelta(days=1)


def test_sec_05_an_editor_asks_and_an_admin_activates_by_granting(
    draft: Desk, editor: Reader, admin: Reader
) -> None:
    page = tree(editor.get(draft.page))
    assert not pick(page, "[data-dialog=ask-activate]")
    assert words(one(page, "[data-dialog=ask-request]")) == "Ask for approval…"
    assert editor.post(f"{draft.page}/activate").status_code == 403
    asked = ask(draft, note="Ready for Monday.")
    assert (asked.status_code, asked.location) == (303, draft.page)
    page = tree(editor.get(draft.page))
    assert texts(page, "#said p") == [
        "Asked for approval. Owners and admins find it under “Requests”."
    ]
    assert "asked" in words(one(page, "#asked"))
    assert "Nobody has decided yet." in words(one(page, "#asked"))
    assert not pick(page, "[data-dialog=ask-request]")
    address = open_request(admin)
    told = main(admin.get(address))
    assert "Ready for Monday." in told
    assert "The event “go” arrives" in told
    assert "Added Wait 5 days" in told
    granted = decide(admin, address, "grant", "Go ahead")
    assert (granted.status_code, granted.location) == (303, address)
    assert said(admin, address) == [
        "Granted. Automation activated: “Welcome”. New people enter from now on."
    ]
    assert "Active" in words(one(tree(editor.get(draft.page)), "#signal"))
    assert not texts(tree(editor.get(draft.page)), "#asked p")
    own = tree(editor.get("/approvals"))
    assert texts(own, "tbody .sig") == ["Granted"]
    told = main(editor.get(address))
    assert "Go ahead" in told
    assert "granted it" in told


def test_a_publish_is_asked_for_with_the_choice_and_granted_with_it(
    waits: Running, admin: Reader
) -> None:
    waits.enter(3)
    waits.clock.advance(2 * DAY)
    waits.save(making.delay("wait", 1), making.delay("more"))
    page = tree(waits.reader.get(waits.page))
    link = one(page, f"a[href={waits.page}/publish]")
    assert words(link) == "Ask for approval…"
    assert ask(waits, "/publish", people_inside="move").status_code == 303
    assert "Nobody has decided yet." in main(waits.reader.get(f"{waits.page}/publish"))
    assert not pick(tree(waits.reader.get(f"{waits.page}/publish")), "form[action=/approvals]")
    address = open_request(admin)
    told = main(admin.get(address))
    assert "Wait 5 days → Wait 1 day" in told
    assert "Asked for: Move: 3 people go on in revision 2" in told
    assert "moved, 3 people go on within minutes" in told
    assert waits.inside_by_revision() == {1: 3}
    decide(admin, address, "grant")
    assert said(admin, address) == [
        "Granted. Published: “Welcome”, revision 2. 3 people go on in it."
    ]
    assert waits.inside_by_revision() == {2: 3}


def test_a_denial_says_why_and_changes_nothing(draft: Desk, admin: Reader, editor: Reader) -> None:
    ask(draft)
    address = open_request(admin)
    assert decide(admin, address, "deny", "Not before the sale.").status_code == 303
    assert said(admin, address) == ["Denied. The automation is as it was."]
    assert "Not before the sale." in main(editor.get(address))
    assert "Draft" in words(one(tree(editor.get(draft.page)), "#signal"))
    assert pick(tree(editor.get(draft.page)), "[data-dialog=ask-request]")


def test_a_draft_that_changed_cannot_be_granted_and_is_asked_for_anew(
    draft: Desk, admin: Reader, editor: Reader, clock: FixedClock, uow: UnitOfWork, acme: Town
) -> None:
    ask(draft)
    address = open_request(admin)
    with uow.begin() as session:
        raw = making.document(making.delay("wait", 6))
        asking.change(session, acme.workspace_id, draft.public_id, raw, clock.now())
    page = tree(admin.get(address))
    assert "The draft was changed since this was asked for" in words(page)
    assert not pick(page, f"[action={address}/grant]")
    refused = decide(admin, address, "grant", "Fine with me")
    assert refused.status_code == 409
    assert "only what was asked for can be granted" in main(refused)
    assert words(one(tree(refused), "textarea")) == "Fine with me"
    assert "that cannot be granted any more" in main(editor.get(draft.page))
    assert ask(draft).status_code == 303
    again = open_request(admin)
    assert again != address
    assert "took it back, or asked anew," in main(editor.get(address))
    assert decide(admin, again, "grant").status_code == 303


def test_two_admins_one_deed_and_the_second_reads_who_and_when(
    draft: Desk, app: Flask, acme: Town, admin: Reader, owner: Reader
) -> None:
    ask(draft)
    address = open_request(admin)
    decide(admin, address, "grant")
    late = decide(owner, address, "grant")
    assert late.status_code == 303
    [sentence] = said(owner, address)
    assert "has granted this already (" in sentence
    assert sentence.endswith("Nothing was done a second time.")
    other = decide(owner, address, "deny")
    assert other.status_code == 409
    assert "has granted this already (" in main(other)


def test_a_deed_that_is_refused_says_why_and_the_request_waits(
    editor: Reader, admin: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    running = Running(editor, uow, acme, clock, making.document(making.delay("wait")))
    running.save(making.delay("wait", 3))
    ask(running, "/publish")
    address = open_request(admin)
    with uow.begin() as session:
        place, at = (session, acme.workspace_id, running.public_id), clock.now()
        for wish in ("paused", "draft"):
            service.change_status(*place, service.Wish(wish), making.ACTOR, at)
    assert "no longer in a state for this" in main(admin.get(address))
    refused = decide(admin, address, "grant")
    assert refused.status_code == 409
    assert "the request still waits" in main(refused)
    assert decide(admin, address, "deny").status_code == 303


@pytest.mark.parametrize("role", ["editor", "support"])
def test_who_may_not_decide_sees_the_difference_and_no_button(
    app: Flask, acme: Town, draft: Desk, role: str
) -> None:
    ask(draft)
    reader = signed_in(app, acme, role)
    address = open_request(reader)
    page = tree(reader.get(address))
    assert "Added Wait 5 days" in words(page)
    assert not pick(page, f"form[action={address}/grant]")
    for act in ("grant", "deny"):
        assert decide(reader, address, act).status_code == 403
    if role == "support":
        assert reader.post(f"{address}/withdraw").status_code == 403
        assert reader.post("/approvals", {"kind": "automation.activate"}).status_code == 403


def test_only_the_asker_takes_it_back(draft: Desk, editor: Reader, admin: Reader) -> None:
    ask(draft)
    address = open_request(admin)
    assert not pick(tree(admin.get(address)), f"form[action={address}/withdraw]")
    assert admin.post(f"{address}/withdraw").status_code == 403
    assert pick(tree(editor.get(address)), f"form[action={address}/withdraw]")
    assert editor.post(f"{address}/withdraw").status_code == 303
    assert said(editor, address) == ["You took the request back."]
    assert "took it back" in main(editor.get(address))
    editor.post(f"{address}/withdraw")
    assert "is over already" in said(editor, address)[0]


def test_the_navigation_counts_what_waits_for_who_decides(
    draft: Desk, editor: Reader, admin: Reader
) -> None:
    def link(reader: Reader) -> str:
        return words(pick(tree(reader.get("/")), "nav a[href=/approvals]")[0])

    assert (link(admin), link(editor)) == ("Requests", "Requests")
    ask(draft)
    assert (link(admin), link(editor)) == ("Requests (1)", "Requests")
    decide(admin, open_request(admin), "deny")
    assert link(admin) == "Requests"


def test_what_is_deleted_takes_its_request_along(
    draft: Desk, editor: Reader, admin: Reader
) -> None:
    ask(draft)
    address = open_request(admin)
    editor.post(f"{draft.page}/delete")
    told = main(admin.get(address))
    assert "The automation was deleted." in told
    assert "over without a decision" in told or "took it back" in told
    assert decide(admin, address, "grant").status_code == 409


def test_an_audit_line_names_who_had_asked(draft: Desk, admin: Reader, acme: Town) -> None:
    ask(draft)
    decide(admin, open_request(admin), "grant")
    lines = texts(tree(admin.get("/audit")), "tbody tr")
    [line] = [each for each in lines if "approval.granted" in each]
    assert "Granted a request" in line
    assert acme.ids["editor"] not in line
    assert [each for each in lines if "automation.activated" in each]


def test_the_pages_ask_a_bounded_number_of_statements(
    house: House, waits: Running, admin: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    waits.enter(3)
    waits.save(*[making.delay(f"step-{number}") for number in range(60)])
    ask(waits, "/publish")
    counts: list[Any] = []
    for size in (1, 20):
        for _ in range(size):
            with uow.begin() as session:
                raw = making.document(making.delay("a"))
                made = asking.draft(session, acme.workspace_id, raw, clock.now())
                asking.ask(session, acme.workspace_id, made, clock.now())
        admin.get("/approvals")
        with counting(house.runtime.database.engine) as asked:
            assert admin.get("/approvals").status_code == 200
        counts.append(asked.count)
    assert counts[0] == counts[1] <= 10
    page = tree(admin.get("/approvals"))
    address = str(pick(page, "tbody a")[-1].get("href"))
    with counting(house.runtime.database.engine) as asked:
        assert "Grant: publish revision 2" in admin.get(address).text
    assert asked.count <= 24, asked.statements
