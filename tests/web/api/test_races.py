"""Equal calls at the same moment, without an Idempotency-Key: one creates, the others find it."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from sqlalchemy import func, select

from engine.audience.models import Contact
from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork
from tests.web.api.support import Program, Reply

TIMES: Final = 8


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Return settings whose rate no loop of a test reaches: the clock of the test stands still."""
    return settings.model_copy(update={"api_rate": 100_000})


@pytest.mark.parametrize(
    ("path", "body", "others"),
    [
        ("/contacts", {"email": "ada@people.example", "first_name": "Ada"}, 200),
        ("/senders", {"email": "shop@acme.example"}, 200),
        ("/sending-domains", {"domain": "acme.example", "verify": "attest"}, 200),
        ("/properties", {"key": "plan", "type": "text"}, 409),
    ],
)
def test_of_many_equal_posts_one_creates_and_none_breaks(
    shop: Program, path: str, body: dict[str, Any], others: int
) -> None:
    def send(_: int) -> Reply:
        return shop.post(path, body)

    with ThreadPoolExecutor(TIMES) as pool:
        statuses = sorted(reply.status_code for reply in pool.map(send, range(TIMES)))
    assert statuses == sorted([201] + [others] * (TIMES - 1))
    assert len(shop.get(path).json["items"]) == 1


def test_of_many_puts_with_one_etag_one_lands(shop: Program) -> None:
    document = {
        "name": "Trial",
        "trigger": {"type": "event_received", "config": {"event_name": "go"}},
        "steps": [],
    }
    made = shop.post("/automations", document)
    path = f"/automations/{made.json['id']}"

    def save(number: int) -> int:
        changed = {**document, "name": f"Trial {number}"}
        headers = {"If-Match": made.headers["ETag"]}
        return shop.call("PUT", path, changed, headers=headers).status_code

    with ThreadPoolExecutor(TIMES) as pool:
        statuses = sorted(pool.map(save, range(TIMES)))
    assert statuses == [200] + [412] * (TIMES - 1)


def test_two_changes_of_different_keys_at_once_both_stand(shop: Program) -> None:
    made = shop.post("/topics", {"name": "News", "description": "old"})
    path = f"/topics/{made.json['id']}"
    changes: list[dict[str, Any]] = [{"name": "Fresh"}, {"description": "new"}] * (TIMES // 2)

    def change(body: dict[str, Any]) -> int:
        return shop.call("PATCH", path, body).status_code

    with ThreadPoolExecutor(TIMES) as pool:
        assert set(pool.map(change, changes)) == {200}
    kept = shop.get(path).json
    assert (kept["name"], kept["description"]) == ("Fresh", "new")


def test_hue_06_a_reader_that_stays_three_seconds_keeps_nobody_from_writing(
    shop: Program, uow: UnitOfWork
) -> None:
    counted = select(func.count()).select_from(Contact)
    answers: list[tuple[int, float]] = []
    with uow.read() as reader:
        before = reader.scalar(counted) or 0
        end = time.monotonic() + 3
        while (begun := time.monotonic()) < end:
            reply = shop.post("/contacts", {"email": f"p{len(answers)}@people.example"})
            answers.append((reply.status_code, time.monotonic() - begun))
    assert {status for status, _took in answers} == {201}
    assert max(took for _status, took in answers) < 2
    with uow.read() as session:
        assert session.scalar(counted) == before + len(answers)
