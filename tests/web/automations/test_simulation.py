"""The page of a simulation: who goes, the way in words and on the plan, mails; nothing written."""

from urllib.parse import urlencode

import pytest
from lxml.html import HtmlElement

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories.scenes import Scene
from tests.support.untouched import untouched
from tests.web.counting import counting
from tests.web.picking import one, pick, texts, words
from tests.web.support import HTMX, Reader, Town, tree

KIM = "kim.arnold@partner.example"


@pytest.fixture
def address(scene: Scene) -> str:
    """Return the address of the simulation of a live automation's draft."""
    return f"/automations/{scene.automations['active']}/simulate"


def named(page: HtmlElement, name: str) -> HtmlElement:
    """Return the field of the form with this name."""
    [found] = page.xpath("//input[@name=$name]", name=name)
    return found


def ask(address: str, **asked: str) -> str:
    """Return the address with a question."""
    return f"{address}?{urlencode(asked)}"


def test_the_page_asks_who_before_it_shows_anything(owner: Reader, address: str) -> None:
    page = tree(owner.get(address))
    assert one(page, "form input[name=contact]").get("value") == ""
    assert pick(page, ".log") == []


def test_a_person_goes_through_the_draft_in_words_and_on_the_plan(
    owner: Reader, uow: UnitOfWork, address: str
) -> None:
    with untouched(uow):
        answer = owner.get(ask(address, contact=KIM, event='{"seats": 3}'))
    assert answer.status_code == 200
    page = tree(answer)
    assert texts(page, ".log h3") == [
        "Mail “Welcome aboard” would be sent",
        "Wait 3 days",
        "onboarding_complete is true? → no",
        "Mail “Can we help?” would be sent",
        "Wait 4 days",
        "Mail “Your trial ends Friday” would be sent",
    ]
    assert "It would take 7 days" in words(one(page, "#simulation"))
    assert "found: false" in words(one(page, ".log"))
    lit = pick(page, ".plan li.done")
    assert len(lit) == 8
    assert "(no)" in texts(page, "p.small")[0]


def test_a_mail_is_shown_in_a_frame_of_its_own(
    owner: Reader, uow: UnitOfWork, address: str
) -> None:
    page = tree(owner.get(ask(address, contact=KIM)))
    frames = [str(frame.get("src")) for frame in pick(page, "iframe[sandbox]")]
    assert len(frames) == 3
    with untouched(uow):
        mail = owner.get(frames[0])
    assert mail.status_code == 200
    assert "Hello Kim" in mail.text
    assert "sandbox" in mail.headers["Content-Security-Policy"]
    for wrong in ("1", "99", "x", "-1", ""):
        assert owner.get(ask(f"{address}/mail", contact=KIM, visit=wrong)).status_code == 404
    assert owner.get(f"{address}/mail").status_code == 404


@pytest.mark.parametrize("text", [KIM, "C-20418", "the id"])
def test_a_person_is_named_by_address_number_or_id(
    owner: Reader, scene: Scene, address: str, text: str
) -> None:
    text = scene.people["first"] if text == "the id" else text
    assert "Kim Arnold" in words(one(tree(owner.get(ask(address, contact=text))), "#answer-title"))


def test_somebody_made_up_has_what_was_typed(owner: Reader, uow: UnitOfWork, address: str) -> None:
    asked = {
        "as": "invented", "go": "1", "first_name": "Zoe", "email": "zoe@people.example",
        "p.onboarding_complete": "true", "p.seats": "12",
    }  # fmt: skip
    with untouched(uow):
        page = tree(owner.get(f"{address}?{urlencode(asked)}"))
    assert texts(page, ".log h3")[2:] == [
        "onboarding_complete is true? → yes",
        "Mail “Your trial ends Friday” would be sent",
    ]
    assert named(page, "p.seats").get("value") == "12"


def test_what_is_wrong_stands_at_its_field_and_nothing_typed_is_lost(
    owner: Reader, address: str
) -> None:
    asked = {"as": "invented", "go": "1", "email": "no address", "p.seats": "many"}
    answer = owner.get(f"{address}?{urlencode(asked)}")
    assert answer.status_code == 422
    page = tree(answer)
    for name, value in (("email", "no address"), ("p.seats", "many")):
        field = named(page, name)
        assert (field.get("value"), field.get("aria-invalid")) == (value, "true")
        assert page.get_element_by_id(str(field.get("aria-describedby"))).text
    assert pick(page, ".log") == []


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"contact": "nobody@people.example"}, "There is no such person."),
        ({"go": "1"}, "Say who: a person, or one made up for the trial."),
        ({"contact": KIM, "event": "[1]"}, 'Write an object in JSON, such as {"plan": "pro"}.'),
        ({"contact": KIM, "event": "{"}, 'Write an object in JSON, such as {"plan": "pro"}.'),
        (
            {"contact": KIM, "event": '{"a": []}'},
            "Every value must be a text, a number, true, false or null.",
        ),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    owner: Reader, address: str, asked: dict[str, str], sentence: str
) -> None:
    answer = owner.get(f"{address}?{urlencode(asked)}")
    assert answer.status_code == 422
    assert texts(tree(answer), ".wrong") == [sentence]


def test_a_failed_run_is_tried_again_with_its_own_input(
    owner: Reader, scene: Scene, uow: UnitOfWork, address: str
) -> None:
    run = scene.runs["step_failed"]
    again = ask(address, run=run)
    assert again in tree(owner.get(f"/runs/{run}")).xpath("//main//a/@href")
    with untouched(uow):
        page = tree(owner.get(again))
    assert one(page, "input[name=contact]").get("value") == scene.people["bare"]
    assert one(page, "textarea").text == '{"seats": 3}'
    assert "would fail" in texts(page, ".log h3")[0]
    assert "The person has no e-mail address." in words(one(page, ".log"))
    assert owner.get(ask(address, run="unknown")).status_code == 404


def test_a_draft_that_lacks_what_it_needs_says_where(owner: Reader, scene: Scene) -> None:
    address = f"/automations/{scene.automations['draft']}/simulate"
    page = tree(owner.get(ask(address, contact=KIM)))
    assert "The step has no template." in words(one(page, ".log"))


def test_htmx_gets_the_part_that_changes(owner: Reader, address: str) -> None:
    part = owner.get(ask(address, contact=KIM), HTMX)
    assert "<html" not in part.text
    assert 'id="simulate-now"' in part.text
    wrong = owner.get(ask(address, contact="nobody"), HTMX)
    assert (wrong.status_code, "<html" in wrong.text) == (422, False)


def test_people_are_offered_while_somebody_types(owner: Reader, scene: Scene) -> None:
    offered = owner.get("/people/pick?contact=ki").text
    assert f'value="{KIM}"' in offered
    assert "Kim Arnold" in offered
    assert owner.get("/people/pick").text.strip() == ""


def test_names_that_look_like_markup_stay_text(
    owner: Reader, uow: UnitOfWork, acme: Town, address: str
) -> None:
    with uow.begin() as session:
        people.contact(
            session, acme.workspace_id, "odd@people.example", first_name="<script>x</script>"
        )
    page = owner.get(ask(address, contact="odd@people.example"))
    assert page.status_code == 200
    assert "<script>x" not in page.text


def test_the_number_of_statements_is_bounded(owner: Reader, house: House, address: str) -> None:
    owner.get(address)
    with counting(house.runtime.database.engine) as asked:
        assert owner.get(ask(address, contact=KIM)).status_code == 200
    # Three templates and a condition among them.
    assert asked.count <= 17 + 3 * 3 + 1, asked.statements


def test_a_long_loop_is_shown_whole(
    owner: Reader, uow: UnitOfWork, acme: Town, scene: Scene, clock: FixedClock
) -> None:
    with uow.begin() as session:
        raw = make.document(make.delay("wait"), make.branch("round", yes="wait"), name="Round")
        row = make.live(session, acme.workspace_id, raw, clock.now())
        people.contact(session, acme.workspace_id, "ada.x@people.example", first_name="Ada")
        address = f"/automations/{row.public_id}/simulate"
    page = tree(owner.get(ask(address, contact="ada.x@people.example")))
    assert len(texts(page, ".log h3")) == 100
    assert "after 100 steps it was stopped" in words(one(page, "#simulation"))


def test_an_outcome_is_chosen_where_a_wait_leaves_it_open(
    owner: Reader, uow: UnitOfWork, acme: Town, scene: Scene, clock: FixedClock
) -> None:
    waits = {"event_name": "paid", "limit_duration": 5, "limit_unit": "days"}
    with uow.begin() as session:
        raw = make.document(
            {"key": "hear", "type": "wait_until", "config": {"mode": "event", **waits}},
            make.delay("more", 1, "hours"),
            name="Hear",
        )
        row = make.live(session, acme.workspace_id, raw, clock.now())
    address = f"/automations/{row.public_id}/simulate"
    late = tree(owner.get(ask(address, contact=KIM)))
    choice = one(late, "select")
    assert choice.get("name") == "choice.hear"
    assert [option.get("value") for option in pick(choice, "option")] == ["late", "heard"]
    assert "It would take 5 days" in words(one(late, "#simulation"))
    heard = tree(owner.get(ask(address, contact=KIM, **{"choice.hear": "heard"})))
    assert "It would take 1 hour" in words(one(heard, "#simulation"))
    assert [option.get("value") for option in heard.xpath("//option[@selected]")] == ["heard"]
