"""Helpers for tests of requests: who asks, who decides, and what their pages say."""

from flask import Flask
from werkzeug.test import TestResponse

from tests.web.automations.editing import Desk, fields
from tests.web.picking import one, texts, words
from tests.web.support import Reader, Town, tree


def signed_in(app: Flask, town: Town, role: str) -> Reader:
    reader = Reader(app)
    assert reader.sign_in(town.people[role]).status_code == 303
    return reader


def ask(work: Desk, query: str = "?ask=request", **typed: str) -> TestResponse:
    """Send the form by which an editor asks."""
    form = fields(work.reader.get(f"{work.page}{query}"), "/approvals")
    return work.reader.post("/approvals", {**form, **typed})


def open_request(reader: Reader) -> str:
    """Return the address of the newest request in the list."""
    address = one(tree(reader.get("/approvals?view=waiting")), "tbody a").get("href")
    return str(address)


def said(reader: Reader, address: str) -> list[str]:
    return texts(tree(reader.get(address)), "#said p")


def decide(reader: Reader, address: str, act: str, answer: str = "") -> TestResponse:
    return reader.post(f"{address}/{act}", {"answer": answer})


def main(answer: TestResponse) -> str:
    return words(one(tree(answer), "main"))
