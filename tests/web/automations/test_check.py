"""The check of a draft: each finding in words, with a link to the step it is about."""

from typing import Any

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import automations as making
from tests.factories import delivery as mails
from tests.web.automations.editing import desk
from tests.web.picking import one, pick, texts, words
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
    loops = [href for said, href in found.items() if "This leads back to" in said]
    assert loops == [f"{work.page}?step=fork#at-fork"]
    part = tree(owner.get(f"{work.page}/check", {**HTMX, "HX-Target": "check"}))
    assert not pick(part, "h1")
    assert texts(part, ".note a") == texts(page, ".note a")


WAY = {"key": "way", "type": "condition"}


@pytest.mark.parametrize(
    ("steps", "step", "words_"),
    [
        ([{"key": "wait", "type": "delay", "config": {}}], "wait", "The wait has no length."),
        ([{**WAY, "config": {}}, making.delay("wait")], "way", "The branch has no rule."),
        ([making.email("mail", "gone")], "mail", "The template of the mail no longer exists."),
        (
            [making.delay("wait", next="end"), making.delay("never")],
            "never",
            "Nobody gets here: no way leads to this step.",
        ),
        (
            [making.delay("wait"), making.branch("way", yes="wait")],
            "way",
            "This way ends here: no step stands behind it, and it names none.",
        ),
    ],
)
def test_each_kind_of_finding_is_said_and_leads_to_its_step(
    owner: Reader,
    uow: UnitOfWork,
    acme: Town,
    clock: FixedClock,
    steps: list[dict[str, Any]],
    step: str,
    words_: str,
) -> None:
    with uow.begin() as session:
        mails.sender(session, acme.workspace_id)
    work = desk(owner, uow, acme, clock, *steps)
    page = tree(owner.get(f"{work.page}/check"))
    [link] = [a for a in pick(page, ".note a") if words(a).endswith(words_)]
    assert link.get("href") == f"{work.page}?step={step}#at-{step}"
    opened = tree(owner.get(f"{work.page}?step={step}"))
    assert one(opened, "#rail").get("data-step") == step


def test_a_circle_that_nobody_can_leave_is_refused_when_it_is_made(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    work = desk(owner, uow, acme, clock, making.delay("wait"), making.delay("more"))
    answer = work.edit("?step=more", "/steps/more", next="wait")
    assert answer.status_code == 422
    assert "lead in a circle that nobody can leave" in answer.text
    assert work.step("more").get("next") is None


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
