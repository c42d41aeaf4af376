"""Schemathesis with a valid key over seeded rows: no 5xx, every answer as the description says."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as profile
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.schemas import APIOperation

from engine.core.settings import Settings
from engine.core.unit_of_work import UnitOfWork
from tests.web.api.seeds import plant
from tests.web.api.support import ROOT, Program

EXAMPLES: Final = 100
# How many operations must reach a success, in percent.
REACHED: Final = 80
FAVOURITE: Final = 4
CHECKED: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ORDER: Final = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Return settings whose rate no fuzzer reaches: the clock of the test stands still."""
    return settings.model_copy(update={"api_rate": 100_000})


@pytest.mark.timeout(400)
def test_the_api_is_what_its_description_says(app: Flask, shop: Program, uow: UnitOfWork) -> None:
    ids = plant(shop, uow)

    def with_key(environ: dict[str, Any], start: Any) -> Any:
        # Put in here, since the generator likes to leave it away.
        return app(environ | {"HTTP_AUTHORIZATION": f"Bearer {shop.key}"}, start)

    schema = schemathesis.openapi.from_wsgi(f"{ROOT}/openapi.json", with_key)
    load_all_checks()
    checks = CHECKS.get_by_names(list(CHECKED))
    reached: dict[str, set[int]] = {}
    for operation in operations(schema):
        reached[operation.label] = probe(operation, shop, ids, checks)
    hit = {label for label, statuses in reached.items() if any(s < 300 for s in statuses)}
    missed = sorted(reached.keys() - hit)
    assert len(reached) >= 35
    assert len(hit) * 100 >= len(reached) * REACHED, f"never a success: {missed}"


def operations(schema: Any) -> Iterator[APIOperation[Any, Any, Any, Any]]:
    """Return every operation that asks for a key; what deletes comes last."""
    found = [each.ok() for each in schema.get_all_operations() if each.ok() is not None]
    return iter(sorted(found, key=lambda each: ORDER.index(each.method.lower())))


def probe(
    operation: APIOperation[Any, Any, Any, Any],
    shop: Program,
    ids: Mapping[str, str],
    checks: Any,
) -> set[int]:
    """Call the operation with the examples of its description and with generated input.

    Every call bears the key, the ids of seeded things and, where it is asked for, the right ETag.
    """
    statuses: set[int] = set()
    area = operation.path.removeprefix(f"{ROOT}/").split("/")[0]

    def call(case: Any) -> None:
        if "id" in case.path_parameters:
            case.path_parameters["id"] = ids[area]
        if "contact" in case.path_parameters:
            case.path_parameters["contact"] = ids["contacts"]
        if "If-Match" in case.headers:
            case.headers["If-Match"] = shop.get(f"/{area}/{ids[area]}").headers["ETag"]
        if len(case.headers.get("Idempotency-Key", "")) < FAVOURITE:
            # The generator's favourite keys would only ever meet themselves.
            case.headers.pop("Idempotency-Key", None)
        answer = case.call()
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=checks)

    for strategy in strategies(operation):
        _given(strategy, call)
    return statuses


def strategies(operation: APIOperation[Any, Any, Any, Any]) -> Iterator[Any]:
    """Yield what to call with: right input, wrong input, and the examples of the description."""
    yield from operation.get_strategies_from_examples()
    yield operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    yield operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)


def _given(strategy: Any, call: Callable[[Any], None]) -> None:
    quick = list(HealthCheck)

    @profile(max_examples=EXAMPLES // 2, phases=[Phase.generate], suppress_health_check=quick)
    @given(case=strategy)
    def every(case: Any) -> None:
        call(case)

    every()
