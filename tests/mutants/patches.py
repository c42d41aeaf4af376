"""The faults that the suite must find: what is taken away, and the tests that must miss it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True)
class Edit:
    """One text in one file, found exactly once, and what stands there instead."""

    file: str
    search: str
    replace: str


@dataclass(frozen=True)
class Patch:
    """One fault. tests: nodes or files of which at least one must turn red."""

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]

    def faults(self, root: Path) -> Iterator[str]:
        """Yield each edit that no longer fits the tree, and each test file that is gone."""
        for edit in self.edits:
            path = root / edit.file
            times = path.read_text().count(edit.search) if path.is_file() else 0
            if times != 1:
                yield f"{self.name}: its text stands {times} times in {edit.file}, not once"
        for node in self.tests:
            if not (root / node.partition("::")[0]).exists():
                yield f"{self.name}: there is no {node}"

    def apply(self, root: Path) -> None:
        """Plant the fault into a copy of the tree."""
        for edit in self.edits:
            path = root / edit.file
            path.write_text(path.read_text().replace(edit.search, edit.replace))


AUTOMATIONS: Final = "tests/engine/automations"
DELIVERY: Final = "tests/engine/delivery"
PATCHES: Final = (
    Patch(
        "lease sweep removed",
        (
            Edit(
                "engine/automations/walker.py",
                "while items := self._claim(None, 1, (LAPSED,)):",
                "while items := ():",
            ),
        ),
        (f"{AUTOMATIONS}/test_walker.py::test_a_worker_that_lost_its_lease_writes_nothing",),
    ),
    Patch(
        "attempt check removed",
        (
            Edit(
                "engine/automations/run_lifecycle.py",
                "_STEP.attempt == rows.c.attempt, ",
                "",
            ),
            Edit(
                "engine/automations/settling.py",
                "        if attempts[step_id] == attempt\n",
                "",
            ),
        ),
        (f"{AUTOMATIONS}/test_late_writers.py",),
    ),
    Patch(
        "settle guard removed",
        (
            Edit(
                "engine/automations/settling.py",
                "outcomes.get(item.id) if standing[item.id] else RUN_ENDED",
                "outcomes.get(item.id)",
            ),
            Edit(
                "engine/automations/advancing.py",
                ", run_lifecycle.RUNS.at(RUNNING))",
                ")",
            ),
        ),
        (f"{AUTOMATIONS}/test_late_writers.py",),
    ),
    Patch(
        "claim without status guard",
        (
            Edit(
                "engine/core/walking.py",
                "select(row.id).where(self._machine.at(self._edge[0]), *self._due)",
                "select(row.id).where(*self._due)",
            ),
            Edit(
                "engine/core/machine.py",
                "update(row).where(guard, *where)",
                "update(row).where(*where)",
            ),
        ),
        (
            f"{AUTOMATIONS}/test_walker.py::test_a_branch_goes_by_the_person_and_writes_skipped_rows",
        ),
    ),
    Patch(
        "partial unique index dropped",
        (
            Edit(
                "migrations/versions/0001_create_first_tables.py",
                '            "uq_automation_runs_running",\n'
                '            ["automation_id", "contact_id"],\n'
                "            unique=True,\n",
                '            "uq_automation_runs_running",\n'
                '            ["automation_id", "contact_id"],\n',
            ),
        ),
        (f"{AUTOMATIONS}/test_fanout.py::test_equal_triggers_in_parallel_start_one_run",),
    ),
    Patch(
        "advance in its own transaction",
        (
            Edit(
                "engine/automations/settling.py",
                "    due, ended = advancing.advance(session, plan, at)\n",
                "    session.commit()\n    due, ended = advancing.advance(session, plan, at)\n",
            ),
        ),
        (f"{AUTOMATIONS}/test_late_writers.py",),
    ),
    Patch(
        "counter bump removed",
        (
            Edit(
                "engine/automations/counters.py",
                "        counted[to] += by\n",
                "        counted[to] += 0\n",
            ),
        ),
        (f"{AUTOMATIONS}/test_counters.py",),
    ),
    Patch(
        "hold park removed",
        (
            Edit(
                "engine/automations/contexts.py",
                "            and run.on_pause == HOLD\n",
                "            and run.on_pause is None\n",
            ),
        ),
        (f"{AUTOMATIONS}/test_holding.py::test_overdue_people_start_at_once_but_sixty_a_minute",),
    ),
    Patch(
        "breaker never counts",
        (
            Edit(
                "engine/automations/lifecycle.py",
                "consecutive_run_failures=row.consecutive_run_failures + batch.c.failed",
                "consecutive_run_failures=row.consecutive_run_failures",
            ),
        ),
        (
            f"{AUTOMATIONS}/test_lifecycle.py::test_the_fifth_failed_run_in_a_row_pauses_by_the_breaker",
        ),
    ),
    Patch(
        "loop cap one too late",
        (
            Edit(
                "engine/automations/claiming.py",
                "run.steps_executed >= MAX_STEPS_PER_RUN",
                "run.steps_executed > MAX_STEPS_PER_RUN",
            ),
        ),
        (f"{AUTOMATIONS}/test_walker.py::test_exactly_one_hundred_executions_then_the_cap",),
    ),
    Patch(
        "handed over after a lost lease",
        (
            Edit(
                "engine/delivery/walk_lifecycle.py",
                "            EmailSend.attempt == held.attempt,\n",
                "",
            ),
            Edit(
                "engine/delivery/walk_lifecycle.py",
                "            EmailSend.lease_until > at,\n",
                "",
            ),
        ),
        (f"{DELIVERY}/test_walk_lifecycle.py",),
    ),
    Patch(
        "unknown outcomes sent again",
        (
            Edit(
                "engine/delivery/walk_lifecycle.py",
                "        _SEND.handed_over_at.is_(None),\n        _SEND.attempt < TRIES,\n",
                "        _SEND.attempt < TRIES,\n",
            ),
            Edit(
                "engine/delivery/walk_lifecycle.py",
                "            EmailSend.handed_over_at.is_(None),\n"
                "            EmailSend.lease_until > at,\n",
                "            EmailSend.lease_until > at,\n",
            ),
        ),
        (f"{DELIVERY}/test_late_hints.py",),
    ),
    Patch(
        "dedupe key dropped",
        (
            Edit(
                "engine/delivery/service/sends.py",
                '.on_conflict_do_nothing(index_elements=["workspace_id", "dedupe_key"])',
                ".on_conflict_do_nothing()",
            ),
            Edit(
                "migrations/versions/0001_create_first_tables.py",
                '"workspace_id", "dedupe_key", name=op.f("uq_email_sends_workspace_id_dedupe_key")',
                '"workspace_id", "dedupe_key", "public_id"',
            ),
        ),
        (f"{DELIVERY}/service/test_sends.py",),
    ),
    Patch(
        "suppression list ignored",
        (
            Edit(
                "engine/delivery/service/requests.py",
                "if blocked is not None and (request.marketing or blocked != UNENGAGED):",
                "if blocked is not None and blocked == UNENGAGED and not request.marketing:",
            ),
        ),
        (f"{DELIVERY}/service/test_requests.py",),
    ),
    Patch(
        "product event left out",
        (
            Edit(
                "engine/core/machine.py",
                "    if change.product_event is not None:\n",
                "    if change.product_event is not None and change.patch is None:\n",
            ),
        ),
        ("tests/engine/core/test_machine.py",),
    ),
    Patch(
        "every worker ticks",
        (
            Edit(
                "engine/core/ticks.py",
                "return session.execute(statement).first() is not None",
                "return session.execute(statement) is not None",
            ),
        ),
        ("tests/engine/core/test_ticks.py",),
    ),
    Patch(
        "another draft is granted",
        (
            Edit(
                "engine/automations/service/requesting.py",
                "    if digest(draft_document(session, row)) != held.content_hash:\n",
                "    if not held.content_hash:\n",
            ),
        ),
        (f"{AUTOMATIONS}/service/test_requesting.py",),
    ),
    Patch(
        "a decided request is done again",
        (
            Edit(
                "engine/accounts/service/approvals.py",
                "    if row.status == PENDING:\n        return None\n",
                "    if row.status:\n        return None\n",
            ),
        ),
        (f"{AUTOMATIONS}/service/test_requesting.py",),
    ),
    Patch(
        "a move does not note the revision that the run had",
        (Edit("engine/automations/moving.py", "select(run.revision_id)", "select(run.id)"),),
        (f"{AUTOMATIONS}/test_moving.py",),
    ),
    Patch(
        "an export bears what may be a secret",
        (
            Edit(
                "engine/automations/exporting.py",
                "            del here[last]\n",
                "",
            ),
        ),
        (f"{AUTOMATIONS}/test_exporting.py",),
    ),
)
