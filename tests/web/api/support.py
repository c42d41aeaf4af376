"""Helpers of the API's tests: a program with a key, and what a problem document must hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from engine.accounts.permissions import FULL
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts

ROOT: Final = "/api/v1"
JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
SHAPE: Final = {"type", "title", "status", "detail", "reason", "errors"}


@dataclass(frozen=True)
class Reply:
    """An answer as a program reads it."""

    status_code: int
    mimetype: str
    headers: Headers
    data: bytes

    @property
    def text(self) -> str:
        """Return the body as text."""
        return self.data.decode()

    @property
    def json(self) -> Any:
        """Return what the body spells."""
        return json.loads(self.data)


def reply(answer: TestResponse) -> Reply:
    """Return an answer of the test client as a program reads it."""
    return Reply(answer.status_code, answer.mimetype or "", answer.headers, answer.data)


@dataclass(frozen=True)
class Program:
    """An outside program: sends its key with every call."""

    app: Flask
    key: str | None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return the answer to one call. body: sent as JSON; raw: sent as it is."""
        sent = dict(headers or {})
        if self.key is not None:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        client = self.app.test_client()
        return reply(
            client.open(ROOT + path, method=method, data=data, headers=sent, content_type=JSON)
        )

    def get(self, path: str, **options: Any) -> Reply:
        """Return the answer to a GET."""
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Reply:
        """Return the answer to a POST."""
        return self.call("POST", path, body, **options)

    def made(self, path: str, body: Any) -> Any:
        """Return what a POST created."""
        answer = self.post(path, body)
        assert answer.status_code == 201, answer.text
        return answer.json


def program(app: Flask, uow: UnitOfWork, workspace_id: int, *scopes: str) -> Program:
    """Return a program with a fresh key of the workspace; without scopes the key may do all."""
    with uow.begin() as session:
        _, secret = accounts.api_key(session, workspace_id, scopes or (FULL,))
    return Program(app, secret)


def problem(answer: Reply, status: int, reason: str | None = None, *members: str) -> dict[str, Any]:
    """Return the problem document of an answer; fails when it is none or another one.

    members: what stands in it beside what every problem document has.
    """
    assert answer.status_code == status, answer.text
    assert answer.mimetype == PROBLEM
    document = json.loads(answer.text)
    assert document.keys() == SHAPE | set(members)
    assert document["status"] == status
    assert document["detail"]
    if reason is not None:
        assert document["reason"] == reason
    return dict(document)


def pointers(document: Mapping[str, Any]) -> list[str]:
    """Return where the faults of a problem document are."""
    assert all(fault["message"] for fault in document["errors"])
    return [fault["pointer"] for fault in document["errors"]]
