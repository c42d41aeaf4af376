"""Reads of audience for pages, the API and upper rooms: frozen rows, never a write."""

from engine.audience.queries.contacts import (
    ContactRow,
    addresses,
    contacts_by_row_id,
    find_by_email,
    find_person,
    get_contact,
    page_contacts,
    property_values,
)
from engine.audience.queries.story import StoryLine, StoryPlace, earlier, story
from engine.audience.queries.suppressions import (
    ReachRow,
    reach,
    suppressed,
    suppression_key,
)
from engine.audience.queries.topics import (
    MemberRow,
    MembershipRow,
    PropertyRow,
    TopicRow,
    get_property,
    get_topic,
    list_properties,
    memberships,
    page_members,
    page_topics,
    topic_names,
)

__all__ = [
    "ContactRow",
    "MemberRow",
    "MembershipRow",
    "PropertyRow",
    "ReachRow",
    "StoryLine",
    "StoryPlace",
    "TopicRow",
    "addresses",
    "contacts_by_row_id",
    "earlier",
    "find_by_email",
    "find_person",
    "get_contact",
    "get_property",
    "get_topic",
    "list_properties",
    "memberships",
    "page_contacts",
    "page_members",
    "page_topics",
    "property_values",
    "reach",
    "story",
    "suppressed",
    "suppression_key",
    "topic_names",
]
