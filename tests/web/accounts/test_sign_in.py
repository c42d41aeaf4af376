"""The form at `/`: it tells nothing about accounts, counts tries, and signing out really ends."""

import pytest
from werkzeug.test import TestResponse

from engine.accounts.service.sessions import TRIES, WINDOW
from engine.core.clock import FixedClock
from tests.factories.accounts import PASSWORD
from tests.web.support import HTMX, Reader, Town, tree

WRONG = "not the password"


def test_the_owner_signs_in_and_lands_on_the_first_page(stranger: Reader, acme: Town) -> None:
    answer = stranger.sign_in(acme.people["owner"])
    assert (answer.status_code, answer.location) == (303, "/")
    assert tree(stranger.get("/")).xpath("//h1/text()") == [acme.name]


def test_the_address_may_be_typed_with_spaces_and_capitals(stranger: Reader, acme: Town) -> None:
    assert stranger.sign_in(f"  {acme.people['owner'].upper()} ").status_code == 303


def test_a_password_manager_finds_its_fields_and_nothing_forbids_to_paste(
    stranger: Reader,
) -> None:
    page = tree(stranger.get("/"))
    purposes = {
        str(field.get("name")): (field.get("type"), field.get("autocomplete"))
        for field in page.xpath("//main//input[not(@type='hidden')]")
    }
    assert purposes == {
        "email": ("email", "username"),
        "password": ("password", "current-password"),
    }
    assert page.xpath("//label[@for='email'] | //label[@for='password']")
    assert not page.xpath("//@onpaste | //@oncopy | //canvas | //iframe")


def test_known_and_unknown_addresses_get_the_same_answer(stranger: Reader, acme: Town) -> None:
    known = stranger.sign_in(acme.people["owner"], WRONG)
    unknown = stranger.sign_in("nobody@acme.example", WRONG)
    assert known.status_code == unknown.status_code == 422
    assert _apart_from(known, acme.people["owner"]) == _apart_from(unknown, "nobody@acme.example")
    faults = tree(known).get_element_by_id("mistakes").text_content().split()
    assert " ".join(faults) == "This address and this password do not belong together."


def _apart_from(answer: TestResponse, address: str) -> str:
    """The page without the typed address and the form's token, which carries its second."""
    (token,) = tree(answer).xpath("//input[@name='csrf_token']/@value")
    return answer.text.replace(address, "").replace(str(token), "")


def test_after_too_many_tries_the_console_asks_to_wait(
    stranger: Reader, acme: Town, clock: FixedClock
) -> None:
    answers = [stranger.sign_in(acme.people["owner"], WRONG) for _ in range(TRIES)]
    assert {answer.status_code for answer in answers} == {422}
    refused = stranger.sign_in(acme.people["owner"], PASSWORD)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= WINDOW.total_seconds() + 1
    assert tree(refused).xpath("//h1/text()") == ["Too many tries"]
    clock.advance(WINDOW)
    assert stranger.sign_in(acme.people["owner"]).status_code == 303


def test_tries_are_no_more_than_twenty() -> None:
    assert TRIES <= 20


@pytest.mark.parametrize(("email", "password"), [("", "x"), ("a@acme.example", ""), ("", "")])
def test_an_empty_field_is_named(stranger: Reader, email: str, password: str) -> None:
    answer = stranger.sign_in(email, password)
    assert answer.status_code == 422
    assert tree(answer).xpath("//*[@id='mistakes']//a/@href")


def test_signing_out_ends_the_session_everywhere(stranger: Reader, acme: Town) -> None:
    stranger.sign_in(acme.people["owner"])
    stolen = stranger.client.get_cookie("stellwerk")
    assert stolen is not None
    answer = stranger.post("/sign-out")
    assert (answer.status_code, answer.location) == (303, "/")
    assert stranger.get("/audit").status_code == 302
    thief = Reader(stranger.app)
    thief.client.set_cookie("stellwerk", stolen.value)
    assert thief.get("/audit").status_code == 302


def test_signing_in_again_ends_the_session_before(stranger: Reader, acme: Town) -> None:
    stranger.sign_in(acme.people["owner"])
    before = stranger.client.get_cookie("stellwerk")
    assert before is not None
    token = stranger.token()
    form = {"csrf_token": token, "email": acme.people["admin"], "password": PASSWORD}
    assert stranger.client.post("/", data=form).status_code == 303
    thief = Reader(stranger.app)
    thief.client.set_cookie("stellwerk", before.value)
    assert thief.get("/audit").status_code == 302
    assert acme.people["admin"] in stranger.get("/").text


def test_somebody_of_another_workspace_may_sign_in_at_the_same_browser(
    stranger: Reader, acme: Town, other: Town
) -> None:
    for town in (acme, other, acme):
        assert stranger.sign_in(town.people["owner"]).status_code == 303
        assert town.people["owner"] in stranger.get("/").text


def test_a_form_without_the_token_is_refused(stranger: Reader, acme: Town) -> None:
    form = {"email": acme.people["owner"], "password": PASSWORD}
    assert stranger.client.post("/", data=form).status_code == 400
    assert stranger.get("/audit").status_code == 302


def test_htmx_sends_the_token_in_a_header(owner: Reader) -> None:
    headers = {"X-CSRFToken": owner.token(), **HTMX}
    answer = owner.client.post("/sign-out", headers=headers)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/")
