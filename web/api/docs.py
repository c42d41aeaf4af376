"""The reader's page of the API: every operation with its scope, its schema and a curl example."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, current_app, render_template

from web.auth import open_to_strangers
from web.request import runtime

pages: Final = Blueprint("api_docs", __name__)
_REF: Final = "#/components/schemas/"
# How deep an example is built; schemas may contain themselves.
_DEPTH: Final = 6
_SHOWN: Final = frozenset({"get", "post", "put", "patch", "delete"})


@dataclass(frozen=True)
class Field:
    """One key of a body or one parameter, as a line of a table."""

    name: str
    kind: str
    required: bool
    about: str


@dataclass(frozen=True)
class Operation:
    """One operation as the page shows it."""

    method: str
    path: str
    summary: str
    scope: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    curl: str
    answers: tuple[tuple[str, str], ...]


@pages.get("/api/docs")
@open_to_strangers
def index() -> str:
    """Show the operations area by area."""
    spec: Mapping[str, Any] = current_app.api_doc  # type: ignore[attr-defined]
    base = runtime().settings.base_url
    areas = [
        (tag["name"], tag.get("description", ""), list(_operations(spec, tag["name"], base)))
        for tag in spec.get("tags", [])
    ]
    return render_template("api/docs.html", areas=areas, base=base)


def _operations(spec: Mapping[str, Any], tag: str, base: str) -> Iterator[Operation]:
    schemas = spec["components"]["schemas"]
    for path, item in spec["paths"].items():
        for method, found in item.items():
            if method in _SHOWN and tag in found.get("tags", []):
                yield _operation(path, method, found, schemas, base)


def _operation(
    path: str, method: str, found: Mapping[str, Any], schemas: Mapping[str, Any], base: str
) -> Operation:
    body = _body(found, schemas)
    return Operation(
        method=method.upper(),
        path=path,
        summary=found.get("summary", ""),
        scope=found.get("x-scope", ""),
        parameters=tuple(_parameters(found)),
        body=tuple(_keys(body)),
        curl=_curl(path, method, body, schemas, base),
        answers=tuple(
            (code, answer["description"]) for code, answer in sorted(found["responses"].items())
        ),
    )


def _body(found: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = found.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return None if schema is None else _resolved(schema, schemas)


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref", "")
    return schemas[reference.removeprefix(_REF)] if reference.startswith(_REF) else schema


def _parameters(found: Mapping[str, Any]) -> Iterator[Field]:
    for parameter in found.get("parameters", []):
        yield Field(
            parameter["name"],
            _kind(parameter["schema"]),
            parameter.get("required", False),
            parameter.get("description", ""),
        )


def _keys(body: Mapping[str, Any] | None) -> Iterator[Field]:
    required = (body or {}).get("required", [])
    for name, schema in (body or {}).get("properties", {}).items():
        yield Field(name, _kind(schema), name in required, schema.get("description", ""))


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_kind(member) for member in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    return str(schema.get("format") or schema.get("const") or schema.get("type", "any"))


def _curl(
    path: str,
    method: str,
    body: Mapping[str, Any] | None,
    schemas: Mapping[str, Any],
    base: str,
) -> str:
    parts = ["curl"]
    if method != "get":
        parts.append(f"-X {method.upper()}")
    parts.append('-H "Authorization: Bearer $KEY"')
    if body is not None:
        example = json.dumps(_example(body, schemas, 0), ensure_ascii=False)
        quoted = example.replace("'", "'\\''")
        parts += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
    return " \\\n  ".join([*parts, f'"{base}{path}"'])


def _example(schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int) -> Any:
    schema = _resolved(schema, schemas)
    if schema.get("examples"):
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if depth < _DEPTH and "properties" in schema:
        wanted = schema.get("required", [])
        return {
            name: _example(member, schemas, depth + 1)
            for name, member in schema["properties"].items()
            if name in wanted
        }
    return {"string": "…", "integer": 1, "number": 1, "boolean": True, "array": []}.get(
        schema.get("type", ""), {}
    )
