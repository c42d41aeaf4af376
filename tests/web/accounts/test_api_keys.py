"""The page of API keys: the secret is shown once, scopes are chosen, revoking ends a key."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from engine.accounts import service
from engine.accounts.models import ApiKey
from engine.accounts.permissions import OFFERED, PERMISSIONS
from engine.core.clock import FixedClock
from engine.core.unit_of_work import UnitOfWork
from tests.factories import accounts
from tests.support.house import START
from tests.web.support import Reader, Town, tree
from web.api import routes


def test_the_secret_is_shown_once_and_works(uow: UnitOfWork, owner: Reader) -> None:
    secret = create(owner)
    with uow.read() as session:
        holder = service.authenticate_key(session, secret, START)
    assert holder is not None
    assert holder.scopes == {"events:write"}
    later = owner.get("/api-keys").text
    assert secret not in later
    assert secret[:8] in later


def test_a_reload_of_the_page_with_the_secret_makes_no_other_key(
    uow: UnitOfWork, owner: Reader
) -> None:
    create(owner)
    again = owner.get("/api-keys")
    assert tree(again).xpath("//*[@id='fresh-key']") == []
    with uow.read() as session:
        assert len(session.scalars(select(ApiKey)).all()) == 1


def test_the_cookie_does_not_tell_the_secret(owner: Reader) -> None:
    owner.post("/api-keys", {"name": "Shop", "scopes": ["events:write"]})
    with owner.client.session_transaction() as cookie:
        said = str(dict(cookie))
    (secret,) = tree(owner.get("/api-keys")).xpath("//*[@id='fresh-key']/text()")
    assert "fresh_key" in said
    assert secret.removeprefix("sw_") not in said


def test_a_secret_that_nobody_came_for_is_not_shown_later(owner: Reader, clock: FixedClock) -> None:
    owner.post("/api-keys", {"name": "Shop", "scopes": ["events:write"]})
    clock.advance(timedelta(minutes=6))
    assert tree(owner.get("/api-keys")).xpath("//*[@id='fresh-key']") == []


def test_the_secret_of_a_key_that_was_revoked_at_once_is_not_shown(
    uow: UnitOfWork, owner: Reader
) -> None:
    owner.post("/api-keys", {"name": "Shop", "scopes": ["events:write"]})
    with uow.read() as session:
        public_id = session.scalars(select(ApiKey.public_id)).one()
    owner.post(f"/api-keys/{public_id}/revoke")
    assert tree(owner.get("/api-keys")).xpath("//*[@id='fresh-key']") == []


def create(reader: Reader) -> str:
    """Return the secret of a new key, as the page after the form shows it."""
    answer = reader.post("/api-keys", {"name": " Shop ", "scopes": ["events:write"]})
    assert (answer.status_code, answer.location) == (303, "/api-keys")
    (secret,) = tree(reader.get("/api-keys")).xpath("//*[@id='fresh-key']/text()")
    return str(secret)


def test_the_list_names_the_key_its_maker_and_its_use(
    uow: UnitOfWork, acme: Town, owner: Reader
) -> None:
    maker = f"user:{acme.ids['admin']}"
    with uow.begin() as session:
        accounts.api_key(session, acme.workspace_id, name="Shop", created_by=maker)
    text = tree(owner.get("/api-keys")).text_content()
    for words in ("Shop", acme.people["admin"], "Never used"):
        assert words in text


def test_a_revoked_key_opens_nothing_any_more(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    with uow.begin() as session:
        row, secret = accounts.api_key(session, acme.workspace_id)
        public_id = row.public_id
    asked = tree(owner.get(f"/api-keys?ask=revoke-{public_id}"))
    assert asked.xpath("//dialog[@open]//form/@action") == [f"/api-keys/{public_id}/revoke"]
    assert owner.post(f"/api-keys/{public_id}/revoke").location == "/api-keys"
    with uow.read() as session:
        assert service.authenticate_key(session, secret, START) is None
    assert "The key is revoked." in owner.get("/api-keys").text


def test_revoking_twice_is_harmless(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    with uow.begin() as session:
        public_id = accounts.api_key(session, acme.workspace_id)[0].public_id
    answers = [owner.post(f"/api-keys/{public_id}/revoke").status_code for _ in range(2)]
    assert answers == [303, 303]


def test_a_wrong_form_names_its_faults_and_makes_no_key(uow: UnitOfWork, owner: Reader) -> None:
    for form in (
        {"name": "", "scopes": ["full"]},
        {"name": "Shop"},
        {"name": "Shop", "scopes": ["everything"]},
        {"name": "n" * 201, "scopes": ["full"]},
    ):
        answer = owner.post("/api-keys", form)
        assert answer.status_code == 422, form
        assert tree(answer).xpath("//*[@id='mistakes']//a/@href"), form
    with uow.read() as session:
        assert session.scalars(select(ApiKey)).all() == []


def test_what_has_a_door_can_be_chosen_and_events_are_chosen_at_first(owner: Reader) -> None:
    page = tree(owner.get("/api-keys"))
    offered = set(page.xpath("//input[@name='scopes']/@value"))
    assert offered == {"full", *routes.scopes()}
    assert routes.scopes() < set(PERMISSIONS)
    assert set(OFFERED) == offered
    assert page.xpath("//input[@name='scopes'][@checked]/@value") == ["events:write"]


@pytest.mark.parametrize(
    ("language", "words"), [("en", "report events"), ("de", "Ereignisse melden")]
)
def test_every_scope_is_explained(owner: Reader, language: str, words: str) -> None:
    page = tree(owner.get(f"/api-keys?lang={language}"))
    labels = page.xpath("//label[input[@name='scopes']]")
    assert all(label.xpath(".//small/text()") for label in labels)
    (usual,) = page.xpath("//label[input[@value='events:write']]//small/text()")
    assert usual == words


def test_support_reads_the_list_and_is_offered_nothing(
    uow: UnitOfWork, stranger: Reader, acme: Town
) -> None:
    with uow.begin() as session:
        accounts.api_key(session, acme.workspace_id, name="Shop")
    stranger.sign_in(acme.people["support"])
    page = tree(stranger.get("/api-keys"))
    assert "Shop" in page.text_content()
    assert page.xpath("//form[contains(@action, 'api-keys')]") == []


def test_a_long_list_goes_on_by_cursor(uow: UnitOfWork, acme: Town, owner: Reader) -> None:
    with uow.begin() as session:
        for number in range(51):
            accounts.api_key(session, acme.workspace_id, name=f"key-{number}-")
    first = tree(owner.get("/api-keys"))
    (following,) = first.xpath("//a[@rel='next']/@href")
    assert "key-0-" not in first.text_content()
    assert "key-0-" in owner.get(following).text
