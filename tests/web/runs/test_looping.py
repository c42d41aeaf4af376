"""Automations that started each other: the log of the last run says why nothing followed."""

import pytest

from engine.audience import service as audience
from engine.audience.inputs import ContactPatch
from engine.automations import queries
from engine.automations.queries import RunFilter
from engine.core.clock import FixedClock
from engine.house import House
from tests.factories import audience as people
from tests.factories import automations as making
from tests.web.support import Reader, Town, tree

SAID = {
    "en": "This change started no automation",
    "de": "Diese Änderung hat keine Automation gestartet",
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_last_run_of_a_loop_says_why_nothing_followed(
    house: House, clock: FixedClock, acme: Town, owner: Reader, language: str
) -> None:
    uow, place, at = house.runtime.uow, acme.workspace_id, clock.now()
    trigger = {"type": "contact_updated", "config": {"property_key": "plan"}}
    with uow.begin() as session:
        people.custom_property(session, place, "plan")
        for has, gives in (("pro", "basic"), ("basic", "pro")):
            rule = {
                "kind": "contact_property", "field": "plan", "operator": "equals", "value": has,
            }  # fmt: skip
            ask = {"key": "ask", "type": "condition", "config": {"condition": rule, "no": "end"}}
            give = {"key": "give", "type": "update_contact", "config": {"changes": {"plan": gives}}}
            making.live(session, place, making.document(ask, give, name=has, trigger=trigger), at)
        person = people.contact(session, place).row_id
        patch = ContactPatch(properties={"plan": "pro"})
        audience.update_contacts(session, place, {person: patch}, "console", at)
    house.steps.sweep()
    with uow.read() as session:
        rows, _following = queries.page_runs(session, place, RunFilter(), limit=100)
    changed = []
    for row in rows[:6]:
        page = tree(owner.get(f"/runs/{row.public_id}?lang={language}"))
        changed.append(SAID[language] in page.text_content())
    assert changed.count(True) == 1
