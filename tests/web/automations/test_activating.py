"""Activating: who will enter and who will not; the signal of each status, the same everywhere."""

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.automations.editing import desk
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree


def test_the_dialog_says_that_only_new_people_enter_and_nobody_does_for_what_happened_before(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = desk(owner, uow, acme, clock, making.delay("wait"))
    with uow.begin() as session:
        persons = [people.contact(session, acme.workspace_id) for _ in range(3)]
        making.fire(session, acme.workspace_id, persons, clock.now())
    dialog = one(tree(owner.get(f"{draft.page}?ask=activate")), "#ask-activate")
    said = words(dialog)
    assert "From now on, everyone this happens to enters: The event “go” arrives" in said
    assert "Nobody enters for what happened before." in said
    assert texts(dialog, "button[type=submit]") == ["Activate for new people"]
    assert not pick(dialog, "input[type=checkbox]")
    assert draft.edit("?ask=activate", "/activate").status_code == 303
    assert texts(tree(owner.get(draft.page)), ".figures dd") == ["0", "0", "0", "0"]


def test_a_signal_is_the_same_word_and_shape_wherever_it_stands(
    owner: Reader, uow: UnitOfWork, acme: Town, clock: FixedClock
) -> None:
    draft = desk(owner, uow, acme, clock, making.delay("wait"))
    for act, word, tone in (
        ("", "Draft", "off"),
        ("activate", "Active", "go"),
        ("pause", "Paused", "hold"),
    ):
        if act:
            assert owner.post(f"{draft.page}/{act}").status_code == 303
        for page, place in (
            (draft.page, ".head .sig"),
            ("/automations", "tbody .sig"),
            ("/", "main .sig"),
        ):
            shown = one(tree(owner.get(page)), place)
            assert (words(shown), shown.get("class")) == (word, f"sig {tone}"), page
