"""A browser without a screen, for tests that only read what a real console answers."""

import http.cookiejar
import urllib.parse
import urllib.request

from lxml import html

from tests.support.stack import OWNER, PASSWORD, Stack


class Visitor:
    """A browser without a screen that talks to a real server."""

    def __init__(self, stack: Stack) -> None:
        self.base_url = stack.base_url
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)

    def get(self, path: str) -> html.HtmlElement:
        """Return a page."""
        return self._open(path, None)

    def sign_in(self) -> html.HtmlElement:
        """Return the page that signing in as the owner leads to."""
        (token,) = self.get("/").xpath("//input[@name='csrf_token']/@value")
        form = {"csrf_token": str(token), "email": OWNER, "password": PASSWORD}
        return self._open("/", urllib.parse.urlencode(form).encode())

    def _open(self, path: str, data: bytes | None) -> html.HtmlElement:
        with self.opener.open(self.base_url + path, data, timeout=30) as answer:
            return html.document_fromstring(answer.read())
