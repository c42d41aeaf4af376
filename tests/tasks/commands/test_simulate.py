"""`stellwerk simulate`: the way in lines or as JSON, and nothing written."""

import json

import pytest

from engine.house import House
from tests.factories import accounts, delivery
from tests.factories import audience as people
from tests.factories import automations as make
from tests.factories.accounts import AT
from tests.support.untouched import untouched
from tests.tasks.commands.conftest import Cli

ADA = "ada@people.example"


@pytest.fixture
def automation(house: House) -> str:
    """Return a live automation with a mail, a wait and a branch, and Ada in its workspace."""
    with house.runtime.uow.begin() as session:
        place = accounts.workspace(session).id
        delivery.sender(session, place)
        template = delivery.template(session, place).public_id
        people.contact(session, place, ADA, first_name="Ada", external_id="C-1")
        raw = make.document(
            make.email("hello", template), make.delay("wait", 3), make.branch("ada", yes="end"),
        )  # fmt: skip
        return make.live(session, place, raw, AT).public_id


def test_the_way_is_told_line_by_line_and_nothing_is_written(
    cli: Cli, house: House, automation: str
) -> None:
    with untouched(house.runtime.uow):
        told = cli("simulate", automation, "--contact", ADA).splitlines()
    assert [line.split("  ")[1:] for line in told[:3]] == [
        ["hello", "email", f"to {ADA}: Hello Ada"],
        ["wait", "delay"],
        ["ada", "condition", "-> yes"],
    ]
    assert told[3:] == ["finished after 3 days, 0:00:00"]


def test_the_way_is_told_as_json(cli: Cli, automation: str) -> None:
    found = json.loads(cli("simulate", automation, "--contact", "C-1", "--json"))
    assert [step["step"] for step in found["path"]] == ["hello", "wait", "ada"]
    assert found["path"][0]["mail"] == {"to": ADA, "subject": "Hello Ada"}
    assert (found["ended"], found["total_seconds"]) == ("finished", 259_200.0)


def test_what_is_unknown_is_refused_in_one_line(cli: Cli, automation: str) -> None:
    assert "no such automation" in cli.refused("simulate", "nothing", "--contact", ADA)
    assert "no such person" in cli.refused("simulate", automation, "--contact", "x@y.example")
