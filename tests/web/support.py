"""Helpers of page tests: a browser without a screen, people of every role, routes and links."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urljoin, urlsplit

from flask import Flask
from lxml import html
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from engine.accounts.models import ROLES
from engine.core.db import Base
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.factories.accounts import PASSWORD

WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HTMX: Final = {"HX-Request": "true"}
# So many addresses of one shape are followed.
_ALIKE: Final = 3
# What no page rule is: files, and what programs call with a key.
APART: Final = ("/static/", "/api/v1/")


@dataclass(frozen=True)
class Town:
    """A workspace and the addresses of its people by role; everybody's password is PASSWORD."""

    workspace_id: int
    name: str
    people: Mapping[str, str]
    ids: Mapping[str, str]


class Reader:
    """One browser: keeps cookies, sends the CSRF token with every form."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.client = app.test_client()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> TestResponse:
        """Return the answer to a GET; redirects are not followed."""
        return self.client.get(path, headers=dict(headers or {}), buffered=True)

    def post(
        self,
        path: str,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> TestResponse:
        """Return the answer to a form that bears this browser's CSRF token."""
        form = {"csrf_token": self.token(), **(data or {})}
        return self.client.post(path, data=form, headers=dict(headers or {}))

    def token(self) -> str:
        """Return the CSRF token that the pages of this browser bear."""
        found = tree(self.get("/")).xpath("//input[@name='csrf_token']/@value")
        return str(found[0])

    def sign_in(self, email: str, password: str = PASSWORD, next_page: str = "") -> TestResponse:
        """Return the answer to the sign-in form."""
        return self.post("/", {"email": email, "password": password, "next": next_page})


def settle(uow: UnitOfWork, name: str) -> Town:
    """Return a new workspace with one person of each role."""
    with uow.begin() as session:
        workspace = accounts.workspace(session, name)
        people = {role: accounts.user(session, workspace.id, role) for role in ROLES}
        return Town(
            workspace.id,
            name,
            {role: person.email for role, person in people.items()},
            {role: person.public_id for role, person in people.items()},
        )


def tree(response: TestResponse) -> html.HtmlElement:
    """Return the parsed page of an answer."""
    return html.document_fromstring(response.text)


def page_rules(app: Flask) -> list[Rule]:
    """Return every route that people use, in the order of their addresses."""
    rules = [rule for rule in app.url_map.iter_rules() if not rule.rule.startswith(APART)]
    return sorted(rules, key=lambda rule: (rule.rule, rule.endpoint))


def methods(rule: Rule) -> list[str]:
    """Return the methods a route takes, without those that the web floor adds."""
    return sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})


def plain_pages(app: Flask) -> list[str]:
    """Return the address of every page that needs no id."""
    return [rule.rule for rule in page_rules(app) if not rule.arguments and "GET" in methods(rule)]


def fill(app: Flask, rule: Rule, values: Mapping[str, str]) -> str:
    """Return the address of a route with its ids filled in."""
    with app.test_request_context():
        arguments: dict[str, Any] = {name: values[name] for name in rule.arguments}
        return app.url_for(rule.endpoint, **arguments)


def crawl(
    reader: Reader, start: str = "/", most: int = 600, leave: str = "\n"
) -> Iterator[tuple[str, TestResponse]]:
    """Yield every page that can be reached by visible links, with its answer.

    leave: what an address holds that is not followed; nothing does by itself.

    Of addresses that differ only in the values behind their `?` the first ones stand for all: a
    long plan has two for each step.
    """
    waiting, seen = [start], {start}
    alike: Counter[tuple[str, ...]] = Counter()
    while waiting:
        assert len(seen) <= most, "the pages have no end"
        address = waiting.pop(0)
        answer = reader.get(address)
        yield address, answer
        if answer.mimetype == "text/html":
            for link in links(address, answer):
                if link not in seen and leave not in link and alike[_shape(link)] < _ALIKE:
                    alike[_shape(link)] += 1
                    seen.add(link)
                    waiting.append(link)


def _shape(link: str) -> tuple[str, ...]:
    """Return what addresses have in common that differ only in the values behind their `?`."""
    path, _mark, query = link.partition("?")
    return (path, *sorted(parse_qs(query, keep_blank_values=True)))


def links(address: str, answer: TestResponse) -> list[str]:
    """Return the addresses of this console that a page links to, without fragments."""
    found: list[str] = []
    for link in tree(answer).xpath("//a/@href | //form[@method='get']/@action"):
        parts = urlsplit(urljoin(f"http://localhost{address}", str(link)))
        if parts.netloc == "localhost":
            found.append(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    return found


def forms(answer: TestResponse) -> list[str]:
    """Return the addresses that the forms of a page post to."""
    return [str(action) for action in tree(answer).xpath("//form[@method='post']/@action")]


def everything(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables, to be compared with those of another moment."""
    return {
        table.name: sorted(map(tuple, session.execute(select(table)).all()), key=repr)
        for table in Base.metadata.sorted_tables
    }
