"""What a check warns of; warnings forbid nothing (decision A12)."""

from typing import Any

from sqlalchemy.orm import Session

from engine.automations import checking, service
from engine.automations.document import Document, read_document
from engine.core.clock import FixedClock
from tests.factories import accounts, audience, delivery
from tests.factories import automations as make


def warnings(session: Session, workspace_id: int, raw: dict[str, Any]) -> dict[str, str]:
    """Return the codes of the warnings on a document, by pointer."""
    document = read_document(raw)
    assert isinstance(document, Document)
    found = checking.warnings(session, workspace_id, document)
    return {problem.pointer: problem.code for problem in found}


def test_a_way_back_is_a_warning_and_never_blocks(session: Session, clock: FixedClock) -> None:
    workspace = accounts.workspace(session)
    raw = make.document(make.delay("a"), make.branch("ask", yes="a", no="ask"))
    assert warnings(session, workspace.id, raw) == {
        "/steps/1/config/yes": "loop",
        "/steps/1/config/no": "loop",
    }
    assert make.live(session, workspace.id, raw, clock.now()).status == "active"


def test_a_next_that_leads_back_is_a_warning(session: Session) -> None:
    raw = make.document(make.branch("ask", yes="end"), make.delay("b", next="ask"))
    assert warnings(session, accounts.workspace(session).id, raw) == {"/steps/1/next": "loop"}


def test_forward_ways_and_the_end_are_no_loop(session: Session) -> None:
    raw = make.document(make.branch("ask", yes="c", no="b"), make.delay("b"), make.delay("c"))
    assert warnings(session, accounts.workspace(session).id, raw) == {}


def test_steps_that_nobody_gets_to_are_a_warning(session: Session) -> None:
    raw = make.document(
        make.branch("ask", yes="c", no="end"),
        make.delay("a"),
        make.branch("b", yes="a", no="c"),
        make.delay("c"),
        make.end("stop"),
        make.delay("behind"),
    )
    assert warnings(session, accounts.workspace(session).id, raw) == {
        "/steps/1": "unreachable",
        "/steps/2": "unreachable",
        "/steps/2/config/yes": "loop",
        "/steps/5": "unreachable",
    }


def test_an_end_leads_nowhere_whatever_it_names(session: Session) -> None:
    raw = make.document(make.delay("a"), {**make.end("stop"), "next": "a"})
    assert warnings(session, accounts.workspace(session).id, raw) == {}


def test_a_way_that_ends_for_want_of_a_step_is_a_warning(session: Session) -> None:
    workspace = accounts.workspace(session)
    raw = make.document(make.delay("a"), make.branch("ask", yes="end", no=None))
    assert warnings(session, workspace.id, raw) == {"/steps/1/config/no": "dead_end"}
    said = make.document(make.delay("a"), make.branch("ask", yes=None, no="end", next="end"))
    assert warnings(session, workspace.id, said) == {}


def test_marketing_mail_without_a_way_out_is_a_warning(session: Session, clock: FixedClock) -> None:
    workspace = accounts.workspace(session)
    delivery.sender(session, workspace.id)
    way_out = '<p>Hi <a href="{{ unsubscribe_url }}">bye</a></p>'
    steps = [
        make.email(key, delivery.template(session, workspace.id, **given).public_id)
        for key, given in {
            "closed": {},
            "open": {"html": way_out},
            "service": {"purpose": "service"},
        }.items()
    ]
    raw = make.document(*steps)
    assert warnings(session, workspace.id, raw) == {
        "/steps/0/config/template_id": "no_unsubscribe_url"
    }
    saved = service.create(session, workspace.id, raw, make.ACTOR, clock.now())
    assert isinstance(saved, service.Saved)


def test_many_people_without_an_address_are_a_warning_only_where_mail_is_sent(
    session: Session,
) -> None:
    workspace = accounts.workspace(session)
    way_out = "<p>{{ unsubscribe_url }}</p>"
    template = delivery.template(session, workspace.id, html=way_out)
    mail = make.document(make.email("a", template.public_id))
    for lacking in range(1, 6):
        assert warnings(session, workspace.id, mail) == {}
        audience.contact(session, workspace.id, email=None, external_id=f"c{lacking}")
    assert warnings(session, workspace.id, mail) == {"": "many_without_address"}
    assert warnings(session, workspace.id, make.document(make.delay("a"))) == {}
