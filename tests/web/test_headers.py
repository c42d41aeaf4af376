"""Every answer bears the security headers; no policy allows inline scripts or styles."""

import pytest
from flask import Flask, Response

from tests.web.support import Reader, crawl, methods, page_rules
from web import auth

POLICY = "Content-Security-Policy"


def test_every_page_and_every_file_bears_a_strict_policy(owner: Reader) -> None:
    seen = dict(crawl(owner))
    for path in ("/static/app.css", "/static/none.css", "/none", "/health/ready", "/metrics"):
        seen[path] = owner.get(path)
    for path in ("/api/v1/contacts", "/api/v1/none", "/api/v1/openapi.json", "/api/docs"):
        seen[path] = owner.get(path)
    for path, answer in seen.items():
        policy = answer.headers[POLICY]
        assert "default-src 'self'" in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert "unsafe" not in policy, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert answer.headers["Referrer-Policy"] == "same-origin", path
        assert "HX-Request" in answer.vary, path


def test_every_route_bears_a_policy_also_when_it_refuses(app: Flask, stranger: Reader) -> None:
    for rule in page_rules(app):
        path = rule.rule.replace("<", "").replace(">", "")
        for method in (*methods(rule), "DELETE"):
            answer = stranger.client.open(path, method=method)
            assert POLICY in answer.headers, f"{method} {path}"


def test_a_broken_page_bears_the_policy_too(app: Flask) -> None:
    app.add_url_rule("/probe", "probe", auth.open_to_strangers(lambda: str(1 / 0)))
    answer = Reader(app).get("/probe")
    assert answer.status_code == 500
    assert "default-src 'self'" in answer.headers[POLICY]


def test_a_route_may_be_stricter_by_itself(app: Flask) -> None:
    own = "sandbox; default-src 'none'"
    framed = Response("", headers={POLICY: own})
    app.add_url_rule("/probe", "probe", auth.open_to_strangers(lambda: framed))
    answer = Reader(app).get("/probe")
    assert answer.headers.getlist(POLICY) == [own]
    assert "X-Frame-Options" not in answer.headers


@pytest.mark.parametrize(("path", "kept"), [("/", "no-store"), ("/static/app.css", "no-cache")])
def test_no_cache_keeps_a_page(owner: Reader, path: str, kept: str) -> None:
    assert owner.get(path).headers["Cache-Control"] == kept
