"""Somebody who is signed in at a real console and opens pages, with what each cost."""

import re
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Final
from urllib.parse import urlencode

from tests.support.stack import OWNER, PASSWORD, Stack

HTMX: Final = "HX-Request"
_TOKEN: Final = re.compile(rb'name="csrf_token"[^>]*value="([^"]+)"')


@dataclass(frozen=True)
class Opened:
    """An answer: seconds until its last byte, and its bytes as they came over the wire."""

    status: int
    seconds: float
    size: int
    body: bytes


class Reader:
    """One session, with cookies, that asks for compressed answers as browsers do."""

    def __init__(self, stack: Stack) -> None:
        self._base = stack.base_url
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._sign_in()

    def open(self, path: str, target: str | None = None, plain: bool = False) -> Opened:
        """Return the answer to a GET; target: the part of the page that htmx would swap."""
        headers = {} if plain else {"Accept-Encoding": "gzip"}
        if target is not None:
            headers |= {HTMX: "true", "HX-Target": target}
        return self._ask(path, headers)

    def _ask(self, path: str, headers: Mapping[str, str], data: bytes | None = None) -> Opened:
        asked = urllib.request.Request(  # noqa: S310 - always the loopback address of a stack
            self._base + path, data=data, headers=dict(headers)
        )
        began = time.perf_counter()
        with self._opener.open(asked, timeout=60) as got:
            body = got.read()
            assert got.geturl() == self._base + path, f"{path} leads to {got.geturl()}"
        return Opened(got.status, time.perf_counter() - began, len(body), body)

    def _sign_in(self) -> None:
        page = self._ask("/", {})
        token = _TOKEN.search(page.body)
        assert token is not None
        form = {"csrf_token": token[1].decode(), "email": OWNER, "password": PASSWORD}
        signed_in = self._ask("/", {}, urlencode(form).encode())
        assert b'name="password"' not in signed_in.body, "the sign-in was refused"
