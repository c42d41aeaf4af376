"""Why, or why not, by API: the answer, the checks, and what was recorded."""

import pytest

from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import audience as people
from tests.factories import automations as make
from tests.web.api.support import Program
from tests.web.support import Town


@pytest.fixture
def place(uow: UnitOfWork, clock: FixedClock, acme: Town) -> dict[str, str]:
    """Return a person who entered, one who did not, and the automation."""
    at = clock.now()
    with uow.begin() as session:
        row = make.live(session, acme.workspace_id, make.document(make.delay("wait")), at)
        ada, kim = (people.contact(session, acme.workspace_id) for _ in range(2))
        make.fire(session, acme.workspace_id, [ada], at)
        make.fire(session, acme.workspace_id, [ada], at)
        return {"id": row.public_id, "ada": ada.public_id, "kim": kim.public_id}


def test_who_is_inside_and_what_was_refused_meanwhile(shop: Program, place: dict[str, str]) -> None:
    found = shop.get(f"/automations/{place['id']}/explain?contact_id={place['ada']}").json
    assert (found["answer"], found["recorded"], found["deleted"]) == ("inside", True, False)
    assert found["runs"][0]["id"] == found["inside"] == found["params"]["run"]
    assert [each["reason"] for each in found["decisions"]] == ["already_inside"]
    assert found["event"]["name"] == "go"


def test_who_never_entered_is_told_what_is_missing(shop: Program, place: dict[str, str]) -> None:
    found = shop.get(f"/automations/{place['id']}/explain?contact_id={place['kim']}").json
    assert (found["answer"], found["recorded"], found["event"]) == ("no_event", False, None)
    barring = [check["name"] for check in found["checks"] if check["verdict"] == "bars"]
    assert barring == ["event"]


def test_a_call_without_or_with_an_unknown_contact_is_refused(
    shop: Program, foreign: Program, place: dict[str, str]
) -> None:
    address = f"/automations/{place['id']}/explain"
    assert shop.get(address).status_code == 422
    unknown = shop.get(f"{address}?contact_id=nobody")
    assert (unknown.status_code, unknown.json["reason"]) == (404, "contact_not_found")
    known = f"contact_id={place['kim']}"
    assert shop.get(f"/automations/nothing/explain?{known}").status_code == 404
    assert foreign.get(f"{address}?{known}").status_code == 404
