"""The description of the API and the page people read it on."""

import json
from typing import Any, cast

from flask import Flask
from lxml import html

from engine.accounts.permissions import PERMISSIONS
from tests.web.api.support import ROOT, Program
from tests.web.support import methods


def test_the_description_names_every_route_and_nothing_else(app: Flask) -> None:
    spec = description(app)
    assert spec["openapi"].startswith("3.")
    described = {(method.upper(), path) for path, item in spec["paths"].items() for method in item}
    routed = {
        (method, rule.rule.replace("<", "{").replace(">", "}"))
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(ROOT) and rule.rule != f"{ROOT}/openapi.json"
        for method in methods(rule)
    }
    assert described == routed
    assert len(described) >= 38


def test_every_operation_names_its_scope_its_key_and_its_refusals(app: Flask) -> None:
    spec = description(app)
    names = []
    for item in spec["paths"].values():
        for method, operation in item.items():
            assert operation["x-scope"] in PERMISSIONS
            assert operation["security"] == [{"key": []}]
            assert {"400", "401", "403", "404", "422", "429"} <= operation["responses"].keys()
            assert operation["summary"]
            names.append(operation["operationId"])
            refused = operation["responses"]["422"]["content"]
            assert list(refused) == ["application/problem+json"], (method, operation)
    assert len(set(names)) == len(names)


def test_the_page_shows_every_operation_under_one_heading(app: Flask) -> None:
    client = app.test_client()
    page = client.get("/api/docs")
    assert page.status_code == 200
    assert len(found(page.text, "//h1")) == 1
    shown = {code.text for code in found(page.text, "//h3/code")}
    spec = description(app)
    assert shown == {
        f"{method.upper()} {path}" for path, item in spec["paths"].items() for method in item
    }
    assert found(page.text, "//script[not(@src)] | //style | //*[@style]") == []
    links = found(page.text, "//@src | //link/@href")
    outside = [link for link in links if not link.startswith("/")]
    assert outside == []


def test_the_examples_of_the_page_work(app: Flask, shop: Program) -> None:
    spec = description(app)
    schemas = spec["components"]["schemas"]
    tried = []
    for path, item in spec["paths"].items():
        body = item.get("post", {}).get("requestBody")
        if body is None or "{" in path:
            continue
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for example in schemas[name].get("examples", []):
            answer = shop.post(path.removeprefix(ROOT), json.loads(json.dumps(example)))
            # What only counts makes nothing.
            expected = 200 if example.get("dry_run") else 201
            assert answer.status_code == expected, (path, answer.text)
            tried.append(path)
    assert {f"{ROOT}/events", f"{ROOT}/templates", f"{ROOT}/automations"} <= set(tried)


def description(app: Flask) -> Any:
    """Return the description that the API gives of itself."""
    answer = app.test_client().get(f"{ROOT}/openapi.json")
    assert answer.status_code == 200
    return answer.json


def found(page: str, path: str) -> list[Any]:
    """Return what an XPath finds on a page."""
    return cast("list[Any]", html.fromstring(page).xpath(path))
