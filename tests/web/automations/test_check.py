"""The check of a draft: each finding in words, with a link to the step it is about."""

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.web.automations.editing import desk
from tests.web.picking import pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree


def test_errors_and_warnings_lead_to_their_steps(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    with uow.begin() as session:
        mails.sender(session, acme.workspace_id)
    work = desk(
        owner, uow, acme, clock,
        making.email("hello", None), making.branch("fork", yes="hello"), making.delay("wait"),
    )  # fmt: skip
    page = tree(owner.get(f"{work.page}/check"))
    found = {words(a): a.get("href") for a in pick(page, ".note a")}
    assert found["The mail has no template."] == f"{work.page}?step=hello#at-hello"
    loops = [href for said, href in found.items() if said.startswith("This leads back to")]
    assert loops == [f"{work.page}?step=fork#at-fork"]
    part = tree(owner.get(f"{work.page}/check", {**HTMX, "HX-Target": "check"}))
    assert not pick(part, "h1")
    assert texts(part, ".note a") == texts(page, ".note a")


def test_a_draft_without_faults_is_said_to_be_ready(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    work = desk(owner, uow, acme, clock, making.delay("wait"))
    page = tree(owner.get(f"{work.page}/check"))
    assert texts(page, ".note") == ["Checked: the draft can go live, and nothing looks wrong."]


def test_support_may_read_the_check(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    work = desk(owner, uow, acme, clock)
    owner.sign_in(acme.people["support"])
    assert "Automation must have at least one step" in owner.get(f"{work.page}/check").text
