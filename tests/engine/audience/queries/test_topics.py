"""Topics, members and properties as lists."""

from sqlalchemy.orm import Session

from engine.audience import queries, service
from engine.audience.inputs import API
from engine.core.ids import write_cursor
from tests.factories import accounts as house_of
from tests.factories import audience as make
from tests.factories.accounts import AT


def test_topics_come_newest_first_by_page(session: Session, workspace: int) -> None:
    topics = [make.topic(session, workspace, name) for name in ("A", "B", "C")]
    make.topic(session, house_of.workspace(session).id)
    first, after = queries.page_topics(session, workspace, limit=2)
    rest, end = queries.page_topics(session, workspace, after=after, limit=2)
    assert [*first, *rest] == topics[::-1]
    assert end is None


def test_members_are_live_and_come_by_page(session: Session, workspace: int) -> None:
    topic, other = make.topic(session, workspace), make.topic(session, workspace)
    known = [make.contact(session, workspace) for _ in range(4)]
    people = [person.public_id for person in known]
    rows = [person.row_id for person in known]
    service.subscribe_many(session, workspace, topic.public_id, rows, API, AT)
    service.subscribe(session, workspace, other.public_id, people[0], API, AT)
    service.delete_contact(session, workspace, people[0], make.ACTOR, AT)
    first, after = queries.page_members(session, workspace, topic.public_id, limit=2)
    rest, end = queries.page_members(session, workspace, topic.public_id, after, limit=2)
    assert [row.contact_id for row in (*first, *rest)] == people[:0:-1]
    assert end is None
    elsewhere = house_of.workspace(session).id
    assert queries.page_members(session, elsewhere, topic.public_id) == ([], None)


def test_the_topics_of_a_person_come_by_name(session: Session, workspace: int) -> None:
    ada = make.contact(session, workspace)
    for name in ("Offers", "News"):
        topic = make.topic(session, workspace, name)
        service.subscribe(session, workspace, topic.public_id, ada.public_id, API, AT)
    names = [row.topic_name for row in queries.memberships(session, workspace, ada.public_id)]
    assert names == ["News", "Offers"]


def test_properties_come_by_key(session: Session, workspace: int) -> None:
    for key in ("plan", "age", "seats"):
        make.custom_property(session, workspace, key)
    first, after = queries.list_properties(session, workspace, limit=2)
    rest, end = queries.list_properties(session, workspace, after, limit=2)
    assert [row.key for row in (*first, *rest)] == ["age", "plan", "seats"]
    assert end is None
    everything = queries.list_properties(session, workspace, write_cursor("\x00"))
    assert [row.key for row in everything[0]] == ["age", "plan", "seats"]


def test_names_of_topics_come_by_public_id(session: Session, workspace: int) -> None:
    news = make.topic(session, workspace, "News")
    foreign = make.topic(session, house_of.workspace(session).id)
    asked = [news.public_id, foreign.public_id, "nothing", "a\x00b", ""]
    assert queries.topic_names(session, workspace, asked) == {news.public_id: "News"}
