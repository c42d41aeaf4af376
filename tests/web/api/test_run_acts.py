"""Acts on runs by API: the answers, the refusals, the scope."""

import pytest
from flask import Flask

from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.web.api.seeds import plant
from tests.web.api.support import Program, pointers, problem, program
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
    refused = problem(shop.post(f"{address}/retry", {}), 409, "nothing_failed")
    assert refused["detail"].startswith("Nothing has failed here")
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
    assert shop.get(f"/runs/{run}").json["status"] == "running"


def test_many_runs_are_counted_acted_on_and_answered_for(
    shop: Program, uow: UnitOfWork, house: House
) -> None:
    run = _run(shop, uow)
    ask = {"filter": {"status": "running"}, "action": "cancel", "reason": "wrong list"}
    counted = shop.post("/runs/bulk", {**ask, "dry_run": True})
    assert (counted.status_code, counted.json) == (200, {"count": 1, "capped": False})
    asked = shop.post("/runs/bulk", ask)
    assert (asked.status_code, asked.json["status"], asked.json["total"]) == (202, "running", 1)
    job = f"/runs/bulk/{asked.json['id']}"
    house.jobs.sweep()
    done = shop.get(job).json
    assert (done["status"], done["done"], done["refused"]) == ("done", 1, 0)
    assert done["filter"]["status"] == "running"
    (item,) = shop.get(f"{job}/items?outcome=done").json["items"]
    assert (item["run_id"], item["outcome"], item["reason"]) == (run, "done", None)
    assert shop.get(f"{job}/items?outcome=refused").json == {"items": [], "next": None}
    problem(shop.post(f"{job}/stop"), 409, "job_is_done")
    problem(shop.post("/runs/bulk", ask), 409, "nothing_matches")


def test_what_cannot_be_asked_for_many_is_a_problem_document(
    shop: Program, uow: UnitOfWork
) -> None:
    _run(shop, uow)
    moved = shop.post("/runs/bulk", {"filter": {}, "action": "move"})
    assert pointers(problem(moved, 422, "step_needed", "errors")) == ["/step"]
    problem(shop.post("/runs/bulk", {"filter": {"x": 1}, "action": "retry"}), 422, None, "errors")
    for path in ("/runs/bulk/nowhere", "/runs/bulk/nowhere/items"):
        problem(shop.get(path), 404, "run_job_not_found")
    problem(shop.post("/runs/bulk/nowhere/stop"), 404, "run_job_not_found")
    stopped = shop.post("/runs/bulk", {"filter": {}, "action": "cancel"}).json["id"]
    assert shop.post(f"/runs/bulk/{stopped}/stop").json["status"] == "stopped"
