"""The gallery: each of its texts works, has a way out, and begins a template that is not saved."""

import pytest
from flask import Flask
from lxml import html
from sqlalchemy import func, select

from engine.core.unit_of_work import UnitOfWork
from engine.delivery.models import MARKETING, Template
from tests.factories import audience as people
from tests.web.picking import one, pick, texts, words
from tests.web.support import Reader, Town, tree
from web.templates import gallery
from web.templates.gallery import FOR, LANGUAGES, Starter

ALL = [each for language in LANGUAGES for each in gallery.shelf(language)]


def _name(starter: Starter) -> str:
    return f"{starter.language}-{starter.key}"


def test_each_language_has_every_text_and_no_file_is_left_over() -> None:
    for language in LANGUAGES:
        files = sorted(path.stem for path in (gallery._FILES / language).iterdir())
        assert files == sorted(FOR)
        assert [each.key for each in gallery.shelf(language)] == list(FOR)
    assert gallery.shelf("fr") == ()
    assert gallery.find("en", "../de/welcome") is None
    names = [each.given.name for each in ALL]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("starter", ALL, ids=_name)
def test_a_text_is_saved_as_it_is_and_reads_well_with_and_without_a_name(
    owner: Reader, uow: UnitOfWork, acme: Town, starter: Starter
) -> None:
    with uow.begin() as session:
        named = people.contact(session, acme.workspace_id, first_name="Zoë").public_id
        unnamed = people.contact(session, acme.workspace_id).public_id
    form = one(
        tree(owner.get(f"/templates/new?language={starter.language}&text={starter.key}")),
        "#template-form",
    )
    typed = {key: value for key, value in form.form_values() if key != "csrf_token"}
    typed["source"] = typed["source"].removeprefix("\n")  # as browsers do with a text area
    answer = owner.post("/templates/new", typed)
    assert answer.status_code == 303, answer.text
    place = answer.headers["Location"]
    mails = {who: owner.get(f"{place}/body?contact={who}").text for who in (named, unnamed)}
    assert "Zoë" in mails[named] + owner.get(f"{place}?contact={named}").text
    for who, mail in mails.items():
        page = tree(owner.get(f"{place}?contact={who}"))
        assert pick(page, "[data-flaw]") == []
        subject = texts(page, "#preview dd bdi")[-1]
        for text in (subject, _read(mail)):
            assert not [bad for bad in ("{{", "{%", " ,", " !", " .", "None", ",,") if bad in text]
        out = [each for each in _links(mail) if "example" not in each]
        assert len(out) == 1, out
    with uow.read() as session:
        row = session.scalars(select(Template)).one()
    assert (row.name, row.purpose) == (starter.given.name, MARKETING)
    assert (row.html, row.mjml) == (starter.given.html, starter.given.mjml)


def _read(mail: str) -> str:
    """Return what a person reads of a mail."""
    body = html.fromstring(mail).find("body")
    assert body is not None
    return " ".join(str(part).strip() for part in body.itertext() if part.strip())


def _links(mail: str) -> list[str]:
    """Return where the links of a mail lead."""
    return [str(link.get("href")) for link in html.fromstring(mail).iter("a")]


@pytest.mark.parametrize("starter", ALL, ids=_name)
def test_a_text_speaks_its_language_and_leads_nowhere_real(starter: Starter) -> None:
    source = starter.given.mjml or starter.given.html or ""
    assert f'lang="{starter.language}"' in source
    assert "{{ unsubscribe_url }}" in source
    assert ("Abmelden" in source) == (starter.language == "de")
    hosts = [part.split("/")[0].split('"')[0] for part in source.split("https://")[1:]]
    assert {host for host in hosts if not host.endswith(".example")} == set()


def test_the_empty_page_leads_to_the_gallery_and_using_a_text_saves_nothing(
    owner: Reader, uow: UnitOfWork
) -> None:
    [link] = [
        each
        for each in pick(tree(owner.get("/templates")), ".empty a")
        if each.get("href") == "/templates/gallery"
    ]
    page = tree(owner.get(link.get("href")))
    assert texts(page, ".starters a")[:2] == ["Welcome", "Abandoned basket"]
    assert "Welcome to Acme, Test" in words(page)
    frame = one(page, "iframe")
    assert frame.get("sandbox") == ""
    body = owner.get(frame.get("src"))
    assert "sandbox" in body.headers["Content-Security-Policy"]
    assert "Good to have you, Test" in body.text
    [use] = [each for each in pick(page, "main a") if words(each) == "Use this template"]
    form = tree(owner.get(use.get("href")))
    assert one(form, "#name").get("value") == "Welcome"
    assert one(form, "#source").text.strip().startswith("<mjml")
    assert words(one(form, "#preview")).startswith("For a sample person")
    with uow.read() as session:
        assert session.scalar(select(func.count()).select_from(Template)) == 0


def test_the_shelf_is_in_the_language_of_the_reader_or_the_one_asked_for(owner: Reader) -> None:
    assert texts(tree(owner.get("/templates/gallery?lang=de")), ".starters a")[0] == "Willkommen"
    page = tree(owner.get("/templates/gallery?language=en&text=note"))
    assert texts(page, ".starters a")[0] == "Welcome"
    assert words(one(page, "#preview-title")) == "Personal note"
    assert [each.get("href") for each in pick(page, ".starters a[aria-current]")] == [
        "/templates/gallery?language=en&text=note"
    ]


@pytest.mark.parametrize(
    "address",
    [
        "/templates/gallery?text=nothing",
        "/templates/gallery/body?language=en&text=..%2Fde%2Fwelcome",
        "/templates/new?language=fr&text=welcome",
        "/templates/new?text=",
    ],
)
def test_a_text_that_is_not_there_is_not_found(owner: Reader, address: str) -> None:
    assert owner.get(address).status_code == 404


def test_who_may_only_read_may_look_but_not_use(app: Flask, acme: Town) -> None:
    support = Reader(app)
    support.sign_in(acme.people["support"])
    page = tree(support.get("/templates/gallery"))
    assert [each for each in pick(page, "main a") if words(each) == "Use this template"] == []
    assert pick(page, "iframe")
