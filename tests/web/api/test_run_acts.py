"""Acts on runs by API: the answers, the refusals, the scope."""

import pytest
from flask import Flask

from engine.core.unit_of_work import UnitOfWork
from tests.web.api.seeds import plant
from tests.web.api.support import Program, problem, program
from tests.web.support import Town


def _run(shop: Program, uow: UnitOfWork) -> str:
    return plant(shop, uow)["runs"]


def test_a_run_is_ended_taken_up_again_and_led_to_its_end(shop: Program, uow: UnitOfWork) -> None:
    address = f"/runs/{_run(shop, uow)}"
    ended = shop.post(f"{address}/cancel", {"reason": "asked us to"})
    assert (ended.status_code, ended.json["status"]) == (200, "cancelled")
    assert ended.json["ended_reason"] == "ended_by_person"
    again = shop.post(f"{address}/retry", {})
    assert (again.status_code, again.json["status"], again.json["step_key"]) == (
        200, "running", "wait",
    )  # fmt: skip
    moved = shop.post(f"{address}/move", {"step": "wait"})
    assert [visit["status"] for visit in moved.json["step_runs"]] == [
        "failed", "skipped", "pending",
    ]  # fmt: skip
    done = shop.post(f"{address}/skip-step", {})
    assert (done.json["status"], done.json["ended_reason"]) == ("completed", "finished")
    problem(shop.post(f"{address}/skip-step", {}), 409, "already_ended")


def test_refusals_are_problem_documents(shop: Program, uow: UnitOfWork) -> None:
    address = f"/runs/{_run(shop, uow)}"
    problem(shop.post(f"{address}/retry", {}), 409, "nothing_failed")
    problem(shop.post(f"{address}/move", {"step": "gone"}), 422, "unknown_step", "errors")
    problem(shop.post(f"{address}/move", {}), 422, None, "errors")
    problem(shop.post("/runs/nowhere/cancel", {}), 404, "run_not_found")


def test_the_same_key_acts_once(shop: Program, uow: UnitOfWork) -> None:
    address = f"/runs/{_run(shop, uow)}/move"
    first = shop.post(address, {"step": "wait"}, headers={"Idempotency-Key": "once"})
    second = shop.post(address, {"step": "wait"}, headers={"Idempotency-Key": "once"})
    assert first.json == second.json


@pytest.mark.parametrize("act", ["cancel", "retry", "skip-step"])
def test_a_key_that_only_reads_may_not_act(
    shop: Program, app: Flask, uow: UnitOfWork, acme: Town, act: str
) -> None:
    run = _run(shop, uow)
    reader = program(app, uow, acme.workspace_id, "runs:read")
    problem(reader.post(f"/runs/{run}/{act}", {}), 403)
