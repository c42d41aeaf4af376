"""Who gets in: strangers, ended sessions, roles; and where people are sent."""

import time
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from engine.accounts import service
from engine.accounts.models import ROLES, UserSession
from engine.accounts.service.sessions import LONGEST, SEEN_EVERY
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from engine.house import House
from tests.support.house import START
from tests.web.support import HTMX, Reader, Town, tree
from web import auth
from web.factory import make_app


def test_a_stranger_is_led_to_the_sign_in_page_and_back(app: Flask, acme: Town) -> None:
    reader = Reader(app)
    answer = reader.get("/audit?action=user")
    assert (answer.status_code, answer.location) == (302, "/?next=/audit?action%3Duser")
    landing = reader.get(answer.location)
    assert tree(landing).xpath("//input[@name='next']/@value") == ["/audit?action=user"]
    signed_in = reader.sign_in(acme.people["owner"], next_page="/audit?action=user")
    assert (signed_in.status_code, signed_in.location) == (303, "/audit?action=user")


def test_a_stranger_at_the_first_page_sees_the_form_itself(stranger: Reader) -> None:
    answer = stranger.get("/")
    assert answer.status_code == 200
    names = set(tree(answer).xpath("//form//input/@name"))
    assert names == {"email", "password", "csrf_token"}


def test_a_strangers_form_leads_to_the_sign_in_page(stranger: Reader) -> None:
    answer = stranger.post("/api-keys", {"name": "mine"})
    assert (answer.status_code, answer.location) == (303, "/")


def test_an_ended_session_of_htmx_reloads_the_whole_page(
    app: Flask, uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    assert owner.get("/audit").status_code == 200
    with uow.begin() as session:
        assert service.revoke_sessions(session, acme.ids["owner"], START) == 1
    answer = owner.get("/audit", HTMX)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (401, "/")
    around = {**HTMX, "HX-Current-URL": "http://localhost/runs?status=running"}
    answer = owner.get("/audit", around)
    assert answer.headers["HX-Redirect"] == "/?next=/runs?status%3Drunning"
    for elsewhere in ("https://evil.example//evil.example/x", "javascript:alert(1)", "http://[x"):
        answer = owner.get("/audit", {**HTMX, "HX-Current-URL": elsewhere})
        assert answer.headers["HX-Redirect"] == "/", elsewhere


def test_a_form_sent_after_the_session_ended_leads_back_to_its_page(stranger: Reader) -> None:
    for page, address in (
        ("http://localhost/templates/new?language=de", "/?next=/templates/new?language%3Dde"),
        ("http://evil.example/templates/new", "/"),
        ("http://[x", "/"),
    ):
        answer = stranger.post("/templates/new", {"name": "mine"}, {"Referer": page})
        assert (answer.status_code, answer.location) == (303, address)


def test_a_revoked_session_ends_at_once(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    token = owner.token()
    with uow.begin() as session:
        service.revoke_sessions(session, acme.ids["owner"], START)
    assert owner.get("/audit").location == "/?next=/audit"
    answer = owner.client.post("/api-keys", data={"csrf_token": token, "name": "late"})
    assert (answer.status_code, answer.location) == (303, "/")


@pytest.mark.parametrize("role", ROLES)
def test_only_roles_that_hold_the_permission_open_a_page(app: Flask, acme: Town, role: str) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people[role])
    assert reader.get("/audit").status_code == (403 if role == "editor" else 200)
    made = reader.post("/api-keys", {"name": "shop", "scopes": ["events:write"]})
    assert made.status_code == (303 if role in {"owner", "admin"} else 403)


def test_the_refusal_of_a_role_is_a_page_one_can_go_on_from(app: Flask, acme: Town) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people["editor"])
    page = tree(reader.get("/audit"))
    assert page.xpath("//h1/text()") == ["You may not do this"]
    assert "/" in page.xpath("//main//a/@href")
    assert page.xpath("//nav")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    stranger: Reader, acme: Town
) -> None:
    cookie = stranger.sign_in(acme.people["owner"]).headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie


def test_the_cookie_does_not_end_before_its_session(app: Flask, acme: Town) -> None:
    reader = Reader(app)
    reader.sign_in(acme.people["owner"])
    cookie = reader.client.get_cookie("stellwerk")
    assert cookie is not None
    assert cookie.expires is not None
    # The cookie's own dates follow the machine's clock, which no test moves.
    assert cookie.expires.timestamp() > time.time() + (LONGEST - timedelta(days=1)).total_seconds()


def test_the_cookie_is_secure_where_people_come_by_https(house: House, acme: Town) -> None:
    secure = house.runtime.settings.model_copy(update={"base_url": "https://stellwerk.example"})
    app = make_app(replace(house.runtime, settings=secure))
    answer = app.test_client().get("/", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" in answer.headers["Set-Cookie"]
    assert answer.headers["Strict-Transport-Security"].startswith("max-age=")


def test_nothing_of_the_session_before_survives_signing_in(stranger: Reader, acme: Town) -> None:
    stranger.get("/?lang=de")
    before = stranger.token()
    stranger.sign_in(acme.people["owner"])
    with stranger.client.session_transaction() as kept:
        assert kept["language"] == "de"
        assert "csrf_token" not in kept or kept["csrf_token"] != before


def test_the_api_never_takes_the_cookie(owner: Reader) -> None:
    assert owner.get("/api/v1/contacts").status_code == 401


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("/runs?status=failed", True),
        ("/", True),
        ("", False),
        (None, False),
        ("runs", False),
        ("//evil.example", False),
        ("/\\evil.example", False),
        ("/\t/evil.example", False),
        ("/runs\r\nSet-Cookie: a=b", False),
        ("https://evil.example/", False),
        ("javascript:alert(1)", False),
    ],
)
def test_nobody_is_sent_away_from_the_console(address: str | None, taken: bool) -> None:
    assert auth.local_path(address) == (address if taken else None)


def test_an_unknown_permission_is_a_bug() -> None:
    with pytest.raises(KeyError):
        auth.requires("runs:juggle")


def test_a_page_notes_once_a_minute_that_the_session_is_in_use(
    uow: UnitOfWork, owner: Reader, clock: FixedClock
) -> None:
    def seen_at() -> datetime:
        with uow.read() as session:
            return session.scalars(select(UserSession.seen_at)).one()

    owner.get("/audit")
    assert seen_at() == START
    later = clock.advance(SEEN_EVERY + timedelta(seconds=1))
    owner.get("/audit")
    assert seen_at() == later
    clock.advance(SEEN_EVERY)
    owner.post("/language", {"language": "de"})
    owner.get("/audit")
    assert seen_at() == later
