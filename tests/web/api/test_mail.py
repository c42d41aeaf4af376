"""Templates, senders, sending domains and sends by API."""

from typing import Any, Final

import pytest

from tests.web.api.seeds import DOCUMENT, TEMPLATE, plant
from tests.web.api.support import Program, pointers, problem

MJML: Final = (
    "<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section>"
    "</mj-body></mjml>"
)


def test_a_template_is_kept_as_it_was_written(shop: Program) -> None:
    made = shop.made("/templates", {**TEMPLATE, "text": "Hello in text"})
    assert (made["purpose"], made["allow_repeat"], made["mjml"]) == ("marketing", None, None)
    path = f"/templates/{made['id']}"
    assert shop.get(path).json == made
    changed = shop.call("PATCH", path, {"subject": "Hi", "purpose": "service"}).json
    assert (changed["subject"], changed["html"], changed["purpose"]) == (
        "Hi",
        TEMPLATE["html"],
        "service",
    )
    turned = shop.call("PATCH", path, {"mjml": MJML}).json
    assert (turned["html"], turned["mjml"]) == (None, MJML)
    assert shop.call("DELETE", path).status_code == 204
    problem(shop.get(path), 404, "template_not_found")


def test_a_broken_change_leaves_the_template_as_it_was(shop: Program) -> None:
    made = shop.made("/templates", TEMPLATE)
    broken = shop.call("PATCH", f"/templates/{made['id']}", {"html": "{% if %}"})
    assert pointers(problem(broken, 422)) == ["/html"]
    assert shop.get(f"/templates/{made['id']}").json == made


def test_a_preview_renders_for_a_contact_and_stores_nothing(shop: Program) -> None:
    person = shop.made("/contacts", {"email": "ada@people.example", "first_name": "Ada"})["id"]
    html = "<p>Hello {{ contact.first_name }} {{ contact.nickname }}</p>"
    template = shop.made("/templates", {**TEMPLATE, "html": html})["id"]
    shown = shop.post(f"/templates/{template}/preview", {"contact_id": person}).json
    assert "Hello Ada" in shown["html"]
    assert "Hello Ada" in shown["text"]
    assert shown["missing"] == ["contact.nickname"]
    assert shop.get("/sends").json["items"] == []


def test_a_sender_and_a_domain_are_there_once(shop: Program) -> None:
    first = shop.post("/senders", {"email": "shop@acme.example", "name": "Shop"})
    again = shop.post("/senders", {"email": "Shop@Acme.Example"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json["is_default"] is True
    assert again.json == first.json
    problem(shop.call("DELETE", f"/senders/{first.json['id']}"), 409, "sender_is_default")
    second = shop.made("/senders", {"email": "news@acme.example"})
    path = f"/senders/{second['id']}"
    assert shop.call("PATCH", path, {"is_default": True}).json["is_default"] is True
    assert shop.get(f"/senders/{first.json['id']}").json["is_default"] is False
    assert shop.call("DELETE", f"/senders/{first.json['id']}").status_code == 204
    ask = {"domain": "Acme.Example", "verify": "attest"}
    answers = [shop.post("/sending-domains", ask) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json == answers[1].json
    assert answers[0].json["verified_by"] == "attest"
    by_dns = shop.post("/sending-domains", {"domain": "acme.example", "verify": "dns"})
    assert pointers(problem(by_dns, 422, "dns_check_not_built")) == ["/verify"]
    assert shop.call("DELETE", f"/sending-domains/{answers[0].json['id']}").status_code == 204


def test_a_send_shows_the_message_as_it_was_sent(shop: Program, uow: Any) -> None:
    ids = plant(shop, uow)
    for query in ("", f"?contact={ids['contacts']}", "?status=sent"):
        (send,) = shop.get(f"/sends{query}").json["items"]
        assert (send["id"], send["contact_id"]) == (ids["sends"], ids["contacts"])
    assert shop.get("/sends?status=failed").json["items"] == []
    detail = shop.get(f"/sends/{ids['sends']}").json
    assert detail["message"]["html"] == "<p>Hello</p>"
    assert detail["message"]["headers"] == "Subject: Hello"


@pytest.mark.parametrize(
    ("area", "body", "changed"),
    [
        ("templates", TEMPLATE, {"subject": "Changed"}),
        ("topics", {"name": "News"}, {"name": "Changed"}),
        ("senders", {"email": "shop@acme.example"}, {"name": "Changed"}),
    ],
)
def test_a_put_replaces_what_its_etag_names(
    shop: Program, area: str, body: dict[str, Any], changed: dict[str, Any]
) -> None:
    path = f"/{area}/{shop.made(f'/{area}', body)['id']}"
    tag = shop.get(path).headers["ETag"]
    wanted = {**body, **changed}
    problem(shop.call("PUT", path, wanted), 428, "if_match_required")
    problem(shop.call("PUT", path, wanted, headers={"If-Match": '"other"'}), 412, "etag_mismatch")
    kept = shop.call("PUT", path, wanted, headers={"If-Match": tag})
    assert kept.status_code == 200
    assert changed.items() <= shop.get(path).json.items()
    assert kept.headers["ETag"] == shop.get(path).headers["ETag"] != tag
    problem(shop.call("PUT", path, body, headers={"If-Match": tag}), 412, "etag_mismatch")


def test_a_template_that_automations_name_is_not_deleted_and_their_number_is_told(
    shop: Program,
) -> None:
    template = shop.made("/templates", TEMPLATE)["id"]
    mail = {"key": "mail", "type": "email", "config": {"template_id": template}}
    automation = shop.made("/automations", {**DOCUMENT, "steps": [mail]})["id"]
    told = problem(shop.call("DELETE", f"/templates/{template}"), 409, "template_in_use")
    assert "(their number: 1)" in told["detail"]
    assert shop.get(f"/templates/{template}").status_code == 200
    assert shop.call("DELETE", f"/automations/{automation}").status_code == 204
    assert shop.call("DELETE", f"/templates/{template}").status_code == 204
    assert shop.get(f"/templates/{template}").status_code == 404
