"""HUE-05: many writers of every sort at once; no lock of the database reaches anybody."""

import threading
import time

from tests.factories.automations import delay, document, email
from tests.support.stack import Stack
from tests.support.waiting import wait_for

WRITERS = 8
SECONDS = 8.0


class Writers:
    """Several people at work through the API, each with another sort of write in turn."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.answered = 0
        self.faults: list[str] = []

    def work(self, seconds: float) -> None:
        """Write from all threads for so long."""
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=self._write, args=(each, end)) for each in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _write(self, writer: int, end: float) -> None:
        number = 0
        while time.monotonic() < end:
            number += 1
            path, body = self._turn(writer, number)
            answer = self._stack.api("POST", path, body)
            self.answered += 1
            # A quick machine meets the rate of the key; that is no lock.
            if answer.status >= 400 and answer.status != 429:
                self.faults.append(f"{path}: {answer.status} {answer.body[:200]!r}")

    def _turn(self, writer: int, number: int) -> tuple[str, object]:
        person = f"p{writer}-{number % 5}@person.example"
        event = {"email": person, "event_name": "go", "create_contact_if_not_exists": True}
        return (
            ("/events", event),
            ("/contacts", {"email": person, "first_name": f"n{number}"}),
            ("/topics", {"name": f"topic {writer} {number}"}),
            ("/automations", document(delay("wait", 1), name=person)),
        )[number % 4]


def test_hue_05_eight_writers_and_two_workers_meet_no_locked_database(stack: Stack) -> None:
    stack.up()
    stack.start("worker")
    mail = {"name": "Hello", "subject": "Hello", "html": "<p>Hello</p>", "allow_repeat": True}
    template = stack.api("POST", "/templates", mail).json()["id"]
    steps = (email("first", template), delay("wait", 0.01, "minutes"), email("second", template))
    automation = stack.api("POST", "/automations", document(*steps)).json()["id"]
    stack.api("POST", f"/automations/{automation}/transitions", {"to": "active"})
    writers = Writers(stack)
    writers.work(SECONDS)
    assert writers.faults == []
    assert writers.answered > 5 * WRITERS
    wait_for(
        lambda: stack.api("GET", "/runs?status=running").json()["items"] == [], "every run", 120
    )
    assert "locked" not in stack.logs()
    assert "Traceback" not in stack.logs()
